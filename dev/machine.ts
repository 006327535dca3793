// Says where and on what a measurement ran: the commit, the machine, and how busy it was.
import { execFileSync } from 'node:child_process';
import { cpus, loadavg, release, totalmem, type as systemType } from 'node:os';

/** Processes that want a processor, on average over the last minute. */
export function readLoad(): number {
  return loadavg()[0] ?? 0;
}

/** As in "2 cores (AMD EPYC), 24 GiB, Linux 6.18, Node v24.21.0, load before 1.6". */
export function describeMachine(loadBefore: number): string {
  const processors = cpus();
  const model = processors[0]?.model.trim() ?? 'unknown';
  const memory = `${(totalmem() / 1024 ** 3).toFixed(0)} GiB`;
  return (
    `${processors.length} cores (${model}), ${memory}, ${systemType()} ${release()}, Node ${process.version}, ` +
    `load before ${loadBefore.toFixed(1)}`
  );
}

/** The commit, and whether files other than the page that is to be written differ from it. */
export function readCommit(page: string): string {
  const git = (...args: string[]): string => execFileSync('git', args, { encoding: 'utf8' }).trim();
  const isClean = git('status', '--porcelain', '--untracked-files=no', '--', '.', `:!${page}`) === '';
  return `${git('rev-parse', '--short', 'HEAD')}${isClean ? '' : ', with changes'}`;
}
