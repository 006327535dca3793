// What a line of the log says of an error: where it came from, and nothing that is secret.
import { expect } from 'chai';
import { createLog } from '../log.ts';

describe('an error in the log', () => {
  function logged(err: Error): { message: string; stack: string } {
    const lines: string[] = [];
    createLog({ process: 'test', level: 'info' }, { write: (line: string) => void lines.push(line) }).error(
      { err },
      'broken',
    );
    return JSON.parse(lines[0] ?? '').err;
  }

  it('names the file and the line it came from', () => {
    const { stack } = logged(new Error('no'));
    expect(stack.split('\n')[0]).to.match(/^ +at .*\(test\/log\.test\.ts:\d+:\d+\)$/);
  });

  it('hides URLs and keys in its text', () => {
    const { message } = logged(
      new Error('https://vendor.example/x?key=1 refused sk-svc_0123456789abcdefghij'),
    );
    expect(message).not.to.contain('vendor.example');
    expect(message).not.to.contain('0123456789');
  });
});
