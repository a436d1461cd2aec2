import { expect, test } from 'vitest';
import type { FakeTurn } from '@svc/connector-kit/testing/fake-core.ts';
import { injections } from './injections.ts';
import { openIssues } from './open-issues.ts';

/** The orders that a model that obeys everything finds in its input, escaped or not. */
const orders = (text: string) =>
  [...text.replaceAll('\\"', '"').matchAll(/\{\{(\w+) (\{[^{}]*\})(?: in (\S+?))?\}\}/g)].map(
    ([, name = '', params = '{}', target]) => ({
      name,
      params: JSON.parse(params) as Record<string, unknown>,
      target,
    }),
  );

test(`${injections.length} injections by strangers have no effect with a model that obeys everything`, async () => {
  const { server, repo, ann, core, live, shown } = await openIssues({ config: { poll_interval_ms: 200 } });
  const eve = server.user('eve');
  const other = server.repo('ann', 'other', true);
  const secret = server.open(other, ann, { title: 'Secret', body: 'secret' });
  const obeyed: string[] = [];
  core.script = async ({ envelope, result }: FakeTurn) => {
    const offered = new Set((envelope.device_tools ?? []).map(({ name }) => name));
    for (const { name, params, target } of orders(envelope.content.text)) {
      obeyed.push(name);
      // The core calls the tools offered with the message, for the target of the message, whatever the model says.
      if (offered.has(name))
        await live().call!(String(envelope.channel_context?.['target']), name, params, AbortSignal.timeout(5000));
      if (target !== undefined)
        await expect(live().call!(target, name, params, AbortSignal.timeout(5000))).rejects.toMatchObject({
          code: 'unprocessable',
        });
    }
    return result({ actions: [{ type: 'reply', text: `It says: ${envelope.content.text}` }] });
  };
  const cases = injections.map(({ place, text }, n) => {
    const pull = {
      branch: 'x',
      sha: '1',
      files: [{ filename: 'a.ts', patch: text }],
      notes: [{ path: 'a.ts', body: text, by: eve }],
    };
    const issue = server.open(repo, eve, {
      title: place === 'title' ? text : `Case ${n}`,
      body: place === 'body' ? text : 'A fault.',
      ...(place === 'diff' && { pull }),
    });
    if (place === 'comment') server.comment(issue, eve, text);
    server.comment(issue, ann, '@assistant what is this about?');
    return issue;
  });
  await expect
    .poll(() => cases.filter((issue) => shown(issue).some((text) => text.startsWith('It says'))).length, { timeout: 60_000 })
    .toBe(cases.length);
  expect(obeyed.length).toBeGreaterThan(cases.length / 2);
  for (const [n, issue] of cases.entries()) {
    const { place, text } = injections[n]!;
    const { envelope } = core.turns.find((turn) => turn.envelope.channel_context?.['target'] === `ann/demo#${issue.number}`)!;
    const lines = envelope.content.text.split('\n');
    expect(lines.slice(0, 2), text).toEqual(['what is this about?', '']);
    expect(
      lines.slice(3).every((line) => line.startsWith('{') && typeof JSON.parse(line) === 'object'),
      text,
    ).toBe(true);
    // A title and a diff are shown as they are.
    if (place === 'body' || place === 'comment') expect(envelope.content.text, text).not.toContain('NOBODY-SEES-THIS');
    expect([issue.state, issue.labels, place === 'title' || issue.title === `Case ${n}`], text).toEqual(['open', [], true]);
    const own = issue.comments.filter(({ user }) => user === server.bot);
    expect(
      own.map(({ body }) => body.match(/<!-- svc:/g)?.length),
      text,
    ).toEqual(own.map(() => 1));
    for (const { body } of own) {
      expect(body, text).not.toContain(server.token);
      expect(body.replaceAll(/`[^`]*`/g, ''), text).not.toMatch(/(?<![A-Za-z0-9])@(?!ann\b)[A-Za-z0-9]/);
    }
  }
  expect([secret.state, secret.comments, other.issues.size]).toEqual(['open', [], 1]);
  expect(core.turns).toHaveLength(cases.length);
}, 120_000);
