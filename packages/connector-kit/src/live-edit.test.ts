import { ServiceError } from '@svc/service-kit/service-error.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { describe, expect, test } from 'vitest';
import { createLiveEdit } from './live-edit.ts';

function setUp() {
  const clock = createFakeClock();
  const edits: string[] = [];
  const answers: (Error | null)[] = [];
  const edit = async (text: string) => {
    edits.push(text);
    const answer = answers.shift() ?? null;
    if (answer !== null) throw answer;
  };
  const live = createLiveEdit({ clock, edit, everyMs: 1000 });
  const pass = async (ms: number) => {
    await settle();
    clock.advance(ms);
    await settle();
  };
  return { live, edits, answers, pass };
}

/** Lets what is ready to go on go on. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
const busy = (seconds: number) => new ServiceError('busy', 'too fast', { details: { retry_after_s: seconds } });

describe('a message that is edited live', () => {
  test('shows the first text at once, then the newest of each second', async () => {
    const { live, edits, pass } = setUp();
    for (const text of ['a', 'ab', 'abc']) live.show(text);
    await pass(999);
    expect(edits).toEqual(['a']);
    await pass(1);
    expect(edits).toEqual(['a', 'abc']);
  });

  test('does not show the same text twice', async () => {
    const { live, edits, pass } = setUp();
    live.show('a');
    await pass(2000);
    live.show('a');
    await pass(2000);
    await live.finish('a');
    expect(edits).toEqual(['a']);
  });

  test('keeps the pause that the platform asks for', async () => {
    const { live, edits, answers, pass } = setUp();
    answers.push(busy(5));
    live.show('a');
    await pass(0);
    live.show('ab');
    await pass(4999);
    expect(edits).toEqual(['a']);
    await pass(1);
    expect(edits).toEqual(['a', 'ab']);
  });

  test('shows the last text after the one on its way, tries again, and then nothing any more', async () => {
    const { live, edits, answers, pass } = setUp();
    answers.push(null, busy(2));
    live.show('a');
    const finished = live.finish('abc');
    await pass(1000);
    await pass(2000);
    await finished;
    live.show('late');
    await pass(5000);
    expect(edits).toEqual(['a', 'abc', 'abc']);
  });

  test('says so when the last text cannot be shown', async () => {
    const { live, answers } = setUp();
    answers.push(new ServiceError('unprocessable', 'the message is gone'));
    await expect(live.finish('a')).rejects.toThrow('the message is gone');
  });

  test('comes to an end although the platform never answers', async () => {
    const clock = createFakeClock();
    const edits: string[] = [];
    const edit = (text: string) => (edits.push(text), new Promise<void>(() => undefined));
    const live = createLiveEdit({ clock, edit, everyMs: 1000, finishWithinMs: 5000 });
    live.show('a');
    const finished = expect(live.finish('abc')).rejects.toMatchObject({ status: 504 });
    for (let i = 0; i < 2; i++) {
      await settle();
      clock.advance(5000);
    }
    await finished;
    expect(edits).toEqual(['a', 'abc']);
  });

  test('survives an edit that throws at once', async () => {
    const edit = () => {
      throw new ServiceError('unprocessable', 'no such message');
    };
    const clock = createFakeClock();
    const live = createLiveEdit({ clock, edit, everyMs: 1000 });
    live.show('a');
    await settle();
    const finished = expect(live.finish('b')).rejects.toThrow('no such message');
    await settle();
    clock.advance(1000);
    await finished;
  });
});
