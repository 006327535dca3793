// The most common passwords. Shorter ones are not listed: the minimum length refuses them.
const COMMON = new Set(
  `
  password password1 password12 password123 password1234 password12345 password! password1! passw0rd
  p@ssword p@ssw0rd p@ssw0rd1 pa55word pa$$word passwort passwort1 motdepasse mypassword newpassword
  12345678 123456789 1234567890 12345678910 123123123 1234512345 87654321 987654321 9876543210 0987654321
  0123456789 01234567 11111111 111111111 1111111111 00000000 000000000 0000000000 22222222 33333333 44444444
  55555555 66666666 77777777 88888888 99999999 11223344 1122334455 112233445566 12341234 12344321 123321123
  123454321 147258369 159753456 147852369 741852963 789456123 123698745 11112222 12121212 10203040
  qwertyui qwertyuiop qwerty12 qwerty123 qwerty1234 qwerty12345 qwerty123456 qwertyuiop123 qwertz123 qwertzui
  qwertzuiop azertyui azertyuiop asdfghjk asdfghjkl asdf1234 asdfasdf asdfghjkl1 zxcvbnm1 zxcvbnm123 zxcvbnm,
  1q2w3e4r 1q2w3e4r5t 1q2w3e4r5t6y 1qaz2wsx 1qaz2wsx3edc 1qazxsw2 q1w2e3r4 q1w2e3r4t5 qazwsxedc qazwsx123
  qweasdzxc qweqweqwe qwer1234 1234qwer 123qweasd 123qwe123 123456qwerty 123456abc abcd1234 abc12345 abc123456
  abcdefgh abcdefghi abcdefg1 abcabcabc a1234567 a12345678 a123456789 aa123456 aa12345678 aaaaaaaa aaaaaaaaaa
  iloveyou iloveyou1 iloveyou2 iloveyou! ilovegod loveyou1 sunshine sunshine1 princess princess1 football
  football1 baseball baseball1 basketball superman superman1 batman123 trustno1 starwars starwars1 whatever
  computer internet michelle jennifer jonathan charlie1 michael1 jordan23 liverpool chelsea1 mercedes corvette
  monkey123 dragon123 master123 shadow123 pokemon1 pokemon123 welcome1 welcome12 welcome123 letmein1 letmein123
  admin123 admin1234 admin12345 admin123456 administrator administrator1 adminadmin rootroot root1234 test1234
  testtest test12345 testing123 guest123 guest1234 user1234 default1 changeme changeme1 changeme123 secret123
  hello123 hello1234 helloworld google123 facebook facebook1 linkedin samsung1 butterfly snoopy123 chocolate
  blink182 nicole123 daniel123 minecraft minecraft1 fuckyou1 fuckyou2 summer2024 summer2025 winter2024 winter2025
  `
    .trim()
    .split(/\s+/),
);

/** Whether the password is on the list, whatever its case. */
export function isCommonPassword(password: string): boolean {
  return COMMON.has(password.toLowerCase());
}
