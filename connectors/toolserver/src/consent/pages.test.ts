import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { html } from './html.ts';
import { renderConsentPage, renderErrorPage, type ConsentView } from './pages.ts';
import { readForm } from './read-form.ts';

const hostile = `"><script>alert('x')</script>&`;
const escaped = '&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;';
const view: ConsentView = {
  assistant: 'assistant',
  client: { name: 'An editor', id: 'c1' },
  redirectTo: 'http://127.0.0.1:7777',
  person: null,
  formKey: 'a-key',
};

describe('consent page', () => {
  test.each<[string, Partial<ConsentView>]>([
    ['the name of the program', { client: { name: hostile, id: 'c1' } }],
    ['its id', { client: { name: 'x', id: hostile } }],
    ['where it leads back to', { redirectTo: hostile }],
    ['the person', { person: hostile }],
    ['what was wrong', { fault: hostile }],
    ['the key of the form', { formKey: hostile }],
    ['the name of the assistant', { assistant: hostile }],
  ])('escapes %s', (_what, over) => {
    const page = renderConsentPage({ ...view, ...over });
    expect(page).toContain(escaped);
    expect(page).not.toContain('<script');
  });

  test('shows for whom the program acts, or that it is no one yet', () => {
    expect(renderConsentPage(view)).toContain('Nobody yet, so its questions are refused.');
    const known = renderConsentPage({ ...view, person: 'Anna' });
    expect(known).toContain('<strong>Anna</strong>');
    expect(known).not.toContain('Nobody yet');
  });

  test('shows a fault only after a failed try', () => {
    expect(renderConsentPage(view)).not.toContain('role="alert"');
    expect(renderConsentPage({ ...view, fault: 'Wrong.' })).toContain('<p class="fault" role="alert">Wrong.</p>');
  });

  test('renderErrorPage() escapes its text', () => {
    expect(renderErrorPage(hostile)).toContain(`<p role="alert">${escaped}</p>`);
  });
});

test('html escapes values, also in lists, except markup', () => {
  const markup = html`<b>${'<'}</b>`;
  expect(html`${markup} ${'<i>'} ${[markup, '&']}`.text).toBe('<b>&lt;</b> &lt;i&gt; <b>&lt;</b>&amp;');
});

describe('readForm()', () => {
  const send = (type: string | undefined, ...parts: string[]) =>
    readForm({
      req: { headers: { 'content-type': type } },
      body: Readable.from(parts.map((part) => Buffer.from(part))),
    } as never);

  test.each(['application/x-www-form-urlencoded', 'Application/X-WWW-Form-Urlencoded ; charset=utf-8'])(
    'reads the type %s, however the body is cut',
    async (type) => {
      expect([...(await send(type, 'code=AB%', '20CD&decision=app', 'rove'))]).toEqual([
        ['code', 'AB CD'],
        ['decision', 'approve'],
      ]);
    },
  );

  test.each([
    undefined,
    'text/plain',
    'application/json',
    'application/x-www-form-urlencoded2',
    'x application/x-www-form-urlencoded',
  ])('rejects the type %s, which another site could send', async (type) => {
    await expect(send(type, 'decision=approve')).rejects.toMatchObject({ code: 'unsupported_media_type' });
  });
});
