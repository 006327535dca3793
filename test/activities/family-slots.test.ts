// Slots of a family: a slow vendor fills its own and delays no other family.
import { expect } from 'chai';
import { createFamilySlots } from '../../activities/family-slots.ts';

describe('the slots of a family', () => {
  it('are refused at once when all are taken, and are free again after the work, however it ends', async () => {
    const slots = createFamilySlots(2);
    const slow = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
    const running = slow.map(({ promise }) => slots.run('openai', () => promise));
    let ran = false;
    const third = await slots.run('openai', async () => {
      ran = true;
    });
    expect([third, ran]).to.deep.equal([null, false]);
    expect(await slots.run('kling', async () => 'done')).to.equal('done');
    slow[0]?.resolve('done');
    slow[1]?.reject(new Error('refused'));
    expect(await running[0]).to.equal('done');
    expect(await running[1]?.catch((error: Error) => error.message)).to.equal('refused');
    expect(await slots.run('openai', async () => 'again')).to.equal('again');
  });
});
