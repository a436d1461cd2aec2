import { ServiceError } from '@svc/service-kit/service-error.ts';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { describe, expect, test } from 'vitest';
import { begin, envelope, push, result, setUp, words } from '../../test/open-reply-writer.ts';
import { createChatGate } from './chat-gate.ts';

describe('reply that is shown as it grows', () => {
  test('starts at 30 characters, is edited in place, and ends with the complete text', async () => {
    const { writer, chat, pass, within } = setUp();
    const reply = begin(writer);
    reply.handlers.onDelta?.('Hi');
    await pass(500);
    expect(chat.shown()).toEqual([]);
    reply.handlers.onDelta?.(', this is more than thirty characters.');
    await pass(50);
    expect(chat.shown()).toEqual(['Hi, this is more than thirty characters.']);
    reply.handlers.onDelta?.(' And');
    reply.handlers.onDelta?.(' more.');
    await pass(1000);
    await within(reply.finish(result('Hi, this is more than thirty characters. And more.')));
    expect(chat.shown()).toEqual(['Hi, this is more than thirty characters. And more.']);
    expect(chat.calls).toEqual(['post', 'edit']);
  });

  test('starts a second after the first word, even if it is short', async () => {
    const { writer, chat, pass } = setUp();
    begin(writer).handlers.onDelta?.('Hm');
    await pass(950);
    expect(chat.shown()).toEqual([]);
    await pass(100);
    expect(chat.shown()).toEqual(['Hm']);
  });

  test('continues in a new message when one is full, with code blocks closed in both', async () => {
    const { writer, chat, pass, within } = setUp({ limit: 60 }, { limit: 60 });
    const text = `Look:\n\`\`\`ts\n${'const a = 1;\n'.repeat(8)}\`\`\`\nDone.`;
    const reply = begin(writer);
    for (const part of text.match(/[\s\S]{1,9}/g) ?? []) {
      reply.handlers.onDelta?.(part);
      await pass(400);
    }
    await within(reply.finish(result(text)));
    expect(chat.faults).toEqual([]);
    expect(chat.shown().length).toBeGreaterThan(2);
    for (const message of chat.shown()) expect((message.match(/```/g) ?? []).length % 2).toBe(0);
    expect(
      chat
        .shown()
        .join('\n')
        .match(/const a = 1;/g),
    ).toHaveLength(8);
  });

  test('ends complete when the platform applies an edit after its connection broke', async () => {
    const clock = createFakeClock();
    const gate = createChatGate({ clock, perMs: 0 });
    let shown = '';
    const edit = async ({ text }: { text: string }): Promise<void> => {
      if (text.includes('Whole.')) return void (shown = text);
      clock.after(400, () => (shown = text));
      throw new Error('the connection was reset');
    };
    const { writer, pass, within } = setUp({ gate, edit }, {}, clock);
    const reply = begin(writer);
    reply.handlers.onDelta?.(words);
    await pass(100);
    reply.handlers.onDelta?.(' And more.');
    await pass(100);
    await within(reply.finish(result(`${words} And more. Whole.`)));
    await pass(2000);
    expect(shown).toBe(`${words} And more. Whole.`);
  });

  test('is edited less often where the channel wants that, and is complete in the end', async () => {
    const { writer, chat, pass, within } = setUp({ liveEveryMs: (writes) => (writes < 4 ? writes * 2000 : null) });
    const reply = begin(writer);
    let text = words;
    reply.handlers.onDelta?.(words);
    for (let n = 0; n < 60; n++) {
      await pass(500);
      reply.handlers.onDelta?.(` ${n}`);
      text += ` ${n}`;
    }
    expect(chat.calls).toEqual(['post', 'edit', 'edit', 'edit']);
    await within(reply.finish(result(text)));
    expect(chat.shown()).toEqual([text]);
  });

  test("stays within the channel's limit of edits, also across restarts", async () => {
    const { chat, open, pass, within } = setUp({ mostLive: 5 });
    let living = open();
    let reply = begin(living.writer);
    let text = words;
    for (let n = 0; n < 20; n++) {
      reply.handlers.onDelta?.(n === 0 ? words : ` ${n}`);
      if (n > 0) text += ` ${n}`;
      await pass(1500);
      if (n % 2 === 0) continue;
      living.kill();
      living = open();
      reply = living.writer.openReply(envelope, { turnId: 't1', again: true });
      reply.handlers.onDelta?.(text);
    }
    expect(chat.calls).toHaveLength(5);
    await within(reply.finish(result(text)));
    expect(chat.shown()).toEqual([text]);
    expect(chat.calls.length).toBeLessThan(8);
  });

  test('is corrected when a killed process had edited it further', async () => {
    const { chat, open, pass, within } = setUp();
    const killed = open();
    const reply = begin(killed.writer);
    reply.handlers.onDelta?.(words);
    await pass(1500);
    reply.handlers.onDelta?.(' And more.');
    await pass(1500);
    expect(chat.shown()).toEqual([`${words} And more.`]);
    killed.kill();
    const again = open().writer.openReply(envelope, { turnId: 't1', again: true });
    await within(again.finish(result(words)));
    expect(chat.shown()).toEqual([words]);
  });

  test('is removed when the turn ends without text', async () => {
    const { writer, chat, pass, within } = setUp();
    const reply = begin(writer);
    reply.handlers.onDelta?.(words);
    await pass(100);
    reply.handlers.onRetract?.();
    await within(reply.finish(result('')));
    expect(chat.shown()).toEqual([]);
  });

  test('is removed soon after a retraction, or overwritten by new text', async () => {
    const { writer, chat, pass } = setUp();
    const { handlers } = begin(writer);
    handlers.onDelta?.(words);
    await pass(100);
    handlers.onRetract?.();
    handlers.onDelta?.('Something else that is long enough.');
    await pass(1100);
    expect([chat.shown(), chat.calls]).toEqual([['Something else that is long enough.'], ['post', 'edit']]);
    handlers.onRetract?.();
    await pass(3000);
    expect(chat.shown()).toEqual([]);
  });

  test('is posted again when a person removed it, or ends there if the channel says so', async () => {
    for (const whenGone of ['post', 'end'] as const) {
      const { writer, chat, pass, within } = setUp({ whenGone });
      const reply = begin(writer);
      reply.handlers.onDelta?.(words);
      await pass(100);
      for (const message of chat.messages) message.isGone = true;
      await within(reply.finish(result(`${words} Whole.`)));
      expect(chat.shown()).toEqual(whenGone === 'post' ? [`${words} Whole.`] : []);
    }
  });

  test('shows a failure below its text, and a later answer replaces both', async () => {
    const { writer, chat, pass, within } = setUp();
    const reply = begin(writer);
    reply.handlers.onDelta?.(words);
    await pass(100);
    await within(reply.fail(new ServiceError('engine_stalled', 'The engine went silent.')));
    expect(chat.shown()).toEqual([`${words}\n\n⚠️ The engine went silent.`]);
    await within(writer.send(push('The answer.'), AbortSignal.timeout(60_000)));
    expect(chat.shown()).toEqual(['The answer.']);
  });
});

describe('platform pause', () => {
  test('delays writes until it is over, then shows the complete text', async () => {
    const { writer, chat, pass, within } = setUp({}, { penaltyS: 30 });
    const reply = begin(writer);
    reply.handlers.onDelta?.(words);
    await pass(100);
    chat.luck.push('busy');
    reply.handlers.onDelta?.(' More.');
    await pass(1500);
    await within(reply.finish(result(`${words} More. Whole.`)));
    expect([chat.shown(), chat.faults]).toEqual([[`${words} More. Whole.`], []]);
  });

  test('of more than a minute rejects the reply, and a later push shows it', async () => {
    const { writer, chat, pass, within } = setUp({}, { penaltyS: 137 });
    const reply = begin(writer);
    reply.handlers.onDelta?.(words);
    await pass(100);
    chat.luck.push('busy');
    await expect(within(reply.finish(result('Whole.')))).rejects.toMatchObject({ code: 'busy' });
    await pass(137_000);
    await within(writer.send(push('Whole.'), AbortSignal.timeout(60_000)));
    expect([chat.shown(), chat.faults]).toEqual([['Whole.'], []]);
  });
});
