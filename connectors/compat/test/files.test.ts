import OpenAI, { BadRequestError } from 'openai';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { annKey, startCompat, type RunningCompat } from './start-compat.ts';

type Part = OpenAI.ChatCompletionContentPart;

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const jpeg = Buffer.from('ffd8ffe000104a464946', 'hex');
const wav = Buffer.from('RIFF....WAVEfmt ');
const dataUrl = (bytes: Buffer, mime = 'image/png') => `data:${mime};base64,${bytes.toString('base64')}`;
const image = (url: string): Part => ({ type: 'image_url', image_url: { url } });
const text = (words: string): Part => ({ type: 'text', text: words });

let compat: RunningCompat;
beforeEach(async () => (compat = await startCompat()));
afterEach(() => compat.stop());
const send = (messages: OpenAI.ChatCompletionMessageParam[]) =>
  new OpenAI({ baseURL: `${compat.url}/v1`, apiKey: annKey, maxRetries: 0 }).chat.completions.create({ model: 'svc', messages });
const show = (...content: Part[]) => send([{ role: 'user', content }]);
const lastTurn = () => compat.core.turns.at(-1)?.envelope.content;

describe('attachments of a message', () => {
  test('are typed by their content, not by their declared type', async () => {
    await show(text('Which is older? '), image(dataUrl(png)), image(dataUrl(jpeg, 'image/svg+xml')));
    expect(compat.saved.map(({ mime, content }) => [mime, content])).toEqual([
      ['image/png', png],
      ['image/jpeg', jpeg],
    ]);
    expect(lastTurn()?.text).toMatch(/^Which is older\? \[image-[0-9a-f]{8}\]\[image-[0-9a-f]{8}\]$/);
    expect(lastTurn()?.attachments?.map(({ name }) => name)).toEqual([
      expect.stringMatching(/^image-[0-9a-f]{8}\.png$/),
      expect.stringMatching(/^image-[0-9a-f]{8}\.jpg$/),
    ]);
  });

  test('may be audio and documents, and need no text', async () => {
    await show({ type: 'input_audio', input_audio: { data: wav.toString('base64'), format: 'wav' } });
    await show({ type: 'file', file: { filename: 'bill.pdf', file_data: dataUrl(Buffer.from('%PDF-1.7'), 'application/pdf') } });
    expect(compat.saved.map(({ name, mime }) => [name, mime])).toEqual([
      [expect.stringMatching(/^audio-[0-9a-f]{8}\.wav$/), 'audio/wav'],
      ['bill.pdf', 'application/pdf'],
    ]);
  });

  test('of earlier messages are sent with a new conversation, and not again', async () => {
    const messages: OpenAI.ChatCompletionMessageParam[] = [
      { role: 'user', content: [text('this? '), image(dataUrl(png))] },
      { role: 'assistant', content: 'a dot' },
      { role: 'user', content: [text('and this? '), image(dataUrl(jpeg))] },
    ];
    await send(messages);
    expect(lastTurn()?.attachments?.map(({ mime }) => mime)).toEqual(['image/png', 'image/jpeg']);
    expect(lastTurn()?.transcript?.[0]).toEqual({ role: 'user', text: expect.stringMatching(/^this\? \[image-[0-9a-f]{8}\]$/) });
    await send(messages);
    expect(lastTurn()?.attachments?.map(({ mime }) => mime)).toEqual(['image/jpeg']);
    await send([...messages, { role: 'assistant', content: 'two' }, { role: 'user', content: 'why?' }]);
    expect(lastTurn()).not.toHaveProperty('attachments');
  });

  test('distinguish conversations that begin with different images', async () => {
    await show(image(dataUrl(png)));
    await show(image(dataUrl(jpeg)));
    expect(new Set(compat.core.turns.map(({ envelope }) => envelope.conversation_key)).size).toBe(2);
  });

  test('are not stored for a caller without access', async () => {
    compat.core.resolve = async () => ({ denied: true }) as never;
    await expect(show(image(dataUrl(png)))).rejects.toMatchObject({ status: 403, code: 'no_access' });
    expect([compat.saved.length, compat.core.turns.length]).toEqual([0, 0]);
  });
});

describe('content that is rejected', () => {
  const bomb = Buffer.from('89504e470d0a1a0a0000000d49484452ffffffffffffffff0806000000', 'hex');
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>');
  test.each<[string, Part, string, string]>([
    ['an SVG', image(dataUrl(svg, 'image/svg+xml')), 'image_url.url', 'invalid_image_format'],
    ['an SVG that says it is a PNG', image(dataUrl(svg)), 'image_url.url', 'invalid_image_format'],
    ['what is no image', image(dataUrl(Buffer.from('MZ\x90'))), 'image_url.url', 'invalid_image_format'],
    ['a bomb of pixels', image(dataUrl(bomb)), 'image_url.url', 'image_too_large'],
    ['wrong base64', image('data:image/png;base64,iVBORw0KGgo*AAA'), 'image_url.url', 'invalid_base64'],
    ['base64 of nothing', image('data:image/png;base64,'), 'image_url.url', 'invalid_base64'],
    ['base64 of nothing but wrong characters', image('data:image/png;base64,\u0000\ud7ff!!'), 'image_url.url', 'invalid_base64'],
    ['a data URL in another encoding', image('data:image/png,abc'), 'image_url.url', 'invalid_value'],
    ['a data URL without an end of its head', image(`data:image/png;${'x'.repeat(10_000)}`), 'image_url.url', 'invalid_value'],
    ['no address', image('cat.png'), 'image_url.url', 'invalid_image_url'],
    ['a file of this machine', image('file:///etc/passwd'), 'image_url.url', 'invalid_image_url'],
    ['an address of this machine', image('https://127.0.0.1:1/a.png'), 'image_url.url', 'invalid_image_url'],
    [
      'an address of this machine in another form',
      image('https://[::ffff:7f00:1]:1/a.png'),
      'image_url.url',
      'invalid_image_url',
    ],
    ['a metadata service', image('https://169.254.169.254/latest/meta-data/'), 'image_url.url', 'invalid_image_url'],
    ['a name of this machine', image('https://localhost:1/a.png'), 'image_url.url', 'invalid_image_url'],
    ['a file kept elsewhere', { type: 'file', file: { file_id: 'file-1' } }, 'file.file_id', 'unsupported_parameter'],
    [
      'sound of another kind',
      { type: 'input_audio', input_audio: { data: wav.toString('base64'), format: 'ogg' as never } },
      'input_audio.format',
      'invalid_value',
    ],
    ['invalid sound', { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } }, 'input_audio.data', 'invalid_value'],
  ])('rejects %s without storing a file or starting a turn', async (_what, part, at, code) => {
    const error = await show(text('see '), part).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(BadRequestError);
    expect(error).toMatchObject({ param: `messages[0].content[1].${at}`, code });
    expect([compat.saved.length, compat.core.turns.length]).toEqual([0, 0]);
  });

  test('rejects images of the assistant, the system or a tool', async () => {
    for (const role of ['assistant', 'system', 'tool'])
      await expect(send([{ role, content: [image(dataUrl(png))] } as never])).rejects.toMatchObject({
        status: 400,
        param: 'messages[0].content[0]',
      });
  });

  test('rejects a thousand images in a message', async () => {
    await expect(show(...Array.from({ length: 1_000 }, () => image(dataUrl(png))))).rejects.toMatchObject({
      status: 400,
      code: 'array_above_max_length',
    });
    expect(compat.saved).toHaveLength(0);
  });

  test('rejects a data URL of 100 MB before all of it has arrived', async () => {
    const part = 'A'.repeat(1024 * 1024);
    let sent = 0;
    async function* body() {
      yield '{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,';
      for (; sent < 100; sent++) yield part;
    }
    const answer = await fetch(`${compat.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${annKey}`, 'content-type': 'application/json' },
      body: ReadableStream.from(body()).pipeThrough(new TextEncoderStream()),
      duplex: 'half',
    } as RequestInit).catch(() => null);
    if (answer !== null) expect(answer.status).toBe(413);
    expect(sent).toBeLessThan(100);
    expect(compat.saved).toHaveLength(0);
  });
});

test('sends the newest 32 of a thousand images in earlier messages with the message', async () => {
  const earlier = Array.from({ length: 1_000 }, (_, i) => ({
    role: 'user' as const,
    content: [image(dataUrl(Buffer.concat([png, Buffer.from(String(i))])))],
  }));
  await send([...earlier, { role: 'user', content: 'And now?' }]);
  expect(compat.saved).toHaveLength(32);
  expect(compat.saved.at(-1)?.content.toString('latin1')).toMatch(/999$/);
});
