import { ServiceError } from '@svc/service-kit/service-error.ts';
import { describe, expect, test } from 'vitest';
import { begin, result, setUp, words } from '../../test/open-reply-writer.ts';
import type { Place } from './reply-platform.ts';

/** A writer on a chat with drafts, or one that reports none. */
function setUpDrafts(has: () => boolean, options = {}, rules = {}) {
  const drafts: { text: string; nonce: string }[] = [];
  const draft = async ({ text, nonce }: Place & { text: string; nonce: string }) => has() && drafts.push({ text, nonce }) > 0;
  return { ...setUp({ draft, ...options }, rules), drafts };
}

describe('reply with drafts', () => {
  test('is posted once, when it is complete', async () => {
    const { writer, chat, pass, within, drafts } = setUpDrafts(() => true);
    const reply = begin(writer);
    reply.handlers.onDelta?.(words);
    await pass(1100);
    reply.handlers.onDelta?.(' More.');
    await pass(1100);
    expect([chat.shown(), drafts.map(({ text }) => text)]).toEqual([[], [words, `${words} More.`]]);
    await within(reply.finish(result(`${words} More. Whole.`)));
    expect([chat.shown(), chat.calls]).toEqual([[`${words} More. Whole.`], ['post']]);
    expect(new Set(drafts.map(({ nonce }) => nonce))).toEqual(new Set([chat.messages[0]?.nonce]));
  });

  test('repeats its draft so that it stays visible while nothing is added', async () => {
    const { writer, chat, pass, within, drafts } = setUpDrafts(() => true);
    const reply = begin(writer);
    reply.handlers.onDelta?.(words);
    await pass(65_000);
    expect(drafts.map(({ text }) => text)).toEqual([words, words, words, words]);
    await within(reply.finish(result(words)));
    await pass(65_000);
    expect([chat.calls, drafts.length]).toEqual([['post'], 4]);
  });

  test('is not shown again after a retraction', async () => {
    const { writer, pass, drafts } = setUpDrafts(() => true);
    const { handlers } = begin(writer);
    handlers.onDelta?.(words);
    await pass(2000);
    handlers.onRetract?.();
    await pass(65_000);
    expect(drafts).toHaveLength(1);
  });

  test('posts full messages and continues in a new draft', async () => {
    const { writer, chat, pass, within, drafts } = setUpDrafts(() => true, { limit: 60 }, { limit: 60 });
    const reply = begin(writer);
    const text = `${'first '.repeat(9)}\n\n${'second '.repeat(5)}`.trim();
    for (const part of text.match(/[\s\S]{1,12}/g) ?? []) {
      reply.handlers.onDelta?.(part);
      await pass(1100);
    }
    expect([chat.shown(), drafts.at(-1)?.text]).toEqual([['first '.repeat(9).trim()], 'second '.repeat(5).trim()]);
    await within(reply.finish(result(text)));
    expect([chat.shown(), chat.faults]).toEqual([['first '.repeat(9).trim(), 'second '.repeat(5).trim()], []]);
    expect(new Set(drafts.map(({ nonce }) => nonce)).size).toBe(2);
  });

  test('falls back to post and edit when drafts are not available', async () => {
    const { writer, chat, pass, within } = setUpDrafts(() => false);
    const reply = begin(writer);
    reply.handlers.onDelta?.(words);
    await pass(1100);
    expect(chat.shown()).toEqual([words]);
    await within(reply.finish(result(`${words} Whole.`)));
    expect([chat.shown(), chat.calls]).toEqual([[`${words} Whole.`], ['post', 'edit']]);
  });

  test('respects a pause that a draft caused', async () => {
    let isClosed = true;
    const { writer, chat, pass, within, clock } = setUpDrafts(() => {
      if (isClosed) throw new ServiceError('busy', 'too fast', { details: { retry_after_s: 20 } });
      return true;
    });
    const reply = begin(writer);
    reply.handlers.onDelta?.(words);
    await pass(500);
    isClosed = false;
    const from = clock.elapsed();
    await within(reply.finish(result(words)));
    expect([chat.shown(), clock.elapsed() - from > 19_000]).toEqual([[words], true]);
  });
});

test('find() gets the message after which to look for a post', async () => {
  const asked: (string | undefined)[] = [];
  const find = async ({ after }: { after?: string }) => (asked.push(after), null);
  const { writer, chat, within } = setUp({ find, limit: 60, unsure: 'repeat' }, { limit: 60, knowsNonces: false });
  chat.luck.push('failed', 'good', 'failed');
  await within(begin(writer).finish(result(`${'first '.repeat(9)}\n\n${'second '.repeat(5)}`)));
  expect([asked, chat.shown().length]).toEqual([['m1', 'p0'], 2]);
});
