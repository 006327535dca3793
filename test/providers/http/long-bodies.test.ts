// How many long answers are read at once, so that videos which end together do not fill the memory.
import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { sendRequest } from '../../../providers/http/client.ts';
import { until } from '../../support/until.ts';
import { startStandIn, type StandIn } from '../stand-in.ts';

/** More than the buffers of a connection take that is not read. */
const LONG = Buffer.alloc(16 * 1024 * 1024, 0x20);
/** Half of all places are one vendor's. */
const PLACES = 8;

describe('long answers of a vendor', () => {
  const held: ServerResponse[] = [];
  let vendor: StandIn;
  let other: StandIn;
  before(async () => {
    vendor = await startStandIn((res, { path }) => {
      if (path === '/ends') return void res.end(LONG);
      res.write(LONG, (error) => {
        if (!error) held.push(res);
      });
    });
    other = await startStandIn((res) => res.end(LONG));
  });
  after(async () => {
    await vendor.close();
    await other.close();
  });

  const read = async (url: string, signal?: AbortSignal, isRead = true): Promise<number> => {
    const call = {
      method: 'POST',
      isRead,
      url,
      headers: {},
      timeoutMs: 20_000,
      bytesMax: 2 * LONG.length,
    } as const;
    return (await sendRequest({ ...call, signal })).body.length;
  };

  it('are read a few at once, each to its end, and those of another vendor beside them', async () => {
    const first = Array.from({ length: PLACES }, () => read(`${vendor.url}/held`));
    await until('all places are taken', async () => held.length === PLACES);
    let isRead = false;
    const next = read(`${vendor.url}/ends`).finally(() => (isRead = true));
    for (let times = 0; times < 5; times += 1) expect(await read(other.url)).to.equal(LONG.length);
    expect(isRead).to.equal(false);
    expect(await read(`${vendor.url}/ends`, undefined, false), 'what was ordered').to.equal(LONG.length);
    held.pop()?.end();
    expect(await next).to.equal(LONG.length);
    for (const res of held.splice(0)) res.end();
    expect(await Promise.all(first)).to.deep.equal(first.map(() => LONG.length));
  });

  it('give their place back when they break off, and wait no longer than their call', async () => {
    const first = Array.from({ length: PLACES }, () => read(`${vendor.url}/held`).catch(() => 'broken'));
    await until('all places are taken', async () => held.length === PLACES);
    const impatient = new AbortController();
    const left = read(`${vendor.url}/ends`, impatient.signal).catch(() => 'left');
    for (let times = 0; times < 5; times += 1) await read(other.url);
    impatient.abort();
    expect(await left).to.equal('left');
    for (const res of held.splice(0)) res.destroy();
    expect(await Promise.all(first)).to.deep.equal(first.map(() => 'broken'));
    expect(await read(`${vendor.url}/ends`)).to.equal(LONG.length);
  });
});
