import { EventEmitter } from 'node:events';
import { describe, expect, test } from 'vitest';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import type { ChildMessage } from '../child-protocol.ts';
import { createParentLink } from './parent-link.ts';

function setUp() {
  const clock = createFakeClock();
  const sent: ChildMessage[] = [];
  const unfinished: (() => void)[] = [];
  const host = new EventEmitter();
  const send = (message: ChildMessage, _handle: unknown, _options: unknown, done: () => void) => {
    sent.push(message);
    unfinished.push(done);
    return true;
  };
  const link = createParentLink(clock, Object.assign(host, { send }) as unknown as NodeJS.Process);
  return { link, clock, sent, unfinished, receive: (message: unknown) => host.emit('message', message) };
}

describe('parent link', () => {
  test('resolves each secret for its own request', async () => {
    const { link, sent, receive } = setUp();
    const first = link.getSecret('A');
    const second = link.getSecret('B');
    expect(sent).toEqual([
      { type: 'secret', requestId: 1, name: 'A' },
      { type: 'secret', requestId: 2, name: 'B' },
    ]);
    receive({ type: 'secret', requestId: 2, value: 'b', error: null });
    receive({ type: 'secret', requestId: 1, value: 'a', error: null });
    await expect(Promise.all([first, second])).resolves.toEqual(['a', 'b']);
  });

  test('rejects with the reason when a secret cannot be resolved', async () => {
    const { link, receive } = setUp();
    const secret = link.getSecret('A');
    receive({ type: 'secret', requestId: 1, value: null, error: 'There is no secret "A".' });
    await expect(secret).rejects.toThrow('There is no secret "A".');
  });

  test('times out after ten seconds without an answer to a secret request', async () => {
    const { link, clock, receive } = setUp();
    const secret = link.getSecret('A');
    clock.advance(10_000);
    await expect(secret).rejects.toThrow(/"A" within 10 s/);
    receive({ type: 'secret', requestId: 1, value: 'late', error: null });
  });

  test('drops telemetry when the manager does not read it, and reports the number afterwards', () => {
    const { link, sent, unfinished } = setUp();
    for (let i = 0; i < 1_500; i++) link.emit({ kind: 'inbound' });
    expect(sent).toHaveLength(1_000);
    unfinished.slice(0, 2).forEach((done) => done());
    for (let i = 0; i < 3; i++) link.emit({ kind: 'inbound' });
    expect(sent).toHaveLength(1_002);
    expect(sent[1_000]).toMatchObject({ type: 'emit', event: { kind: 'dropped', payload: { count: 500 } } });
  });
});
