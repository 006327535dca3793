// `npm run admin -- COMMAND`: administers without a login, such as creating the first administrator.
import { ADMIN_COMMANDS } from './admin-commands.ts';
import { runProgram } from './program.ts';

await runProgram('admin', ADMIN_COMMANDS, process.argv.slice(2));
