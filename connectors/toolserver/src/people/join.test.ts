import { expect, test } from 'vitest';
import { createJoin } from './join.ts';

const client = { userId: 'client-1', username: 'An editor' };

/** A core that knows the user as the given person before and after the invitation; null for a stranger. */
function open(before: string | null, after: string | null, answer: string | Error = '') {
  const said: object[] = [];
  const warned: string[] = [];
  const handle = async (envelope: object) => {
    said.push(envelope);
    if (answer instanceof Error) throw answer;
    return { actions: answer === '' ? [] : [{ type: 'reply', text: answer }] };
  };
  const join = createJoin({
    core: { handle },
    instanceId: 't1',
    log: (_level: string, message: string) => void warned.push(message),
    identityOf: async (userId: string) => {
      expect(userId).toBe(client.userId);
      const person = said.length === 0 ? before : after;
      return { denied: person === null, principal_key: person ?? 'stranger', display_name: person ?? 'Stranger' };
    },
  } as never);
  return { join, said, warned };
}

test('sends the invitation as the client only, whatever the core answers', async () => {
  const { join, said } = open(null, 'anna', 'Welcome.');
  expect(await join(client, { invitation: 'AN-INVITATION', principal: 'anna' })).toBeNull();
  expect(said).toMatchObject([
    { channel: 'toolserver', sender: { raw_id: 'client-1', raw_username: 'An editor' }, content: { text: 'AN-INVITATION' } },
  ]);
});

test.each([
  ['with the reason of the core', 'This invitation does not work.', 'This invitation does not work.'],
  ['without one', '', 'The core refused the invitation.'],
  ['when the core does not answer', new Error('gone'), 'The core did not answer.'],
])('reports why a client is still a stranger, %s', async (_what, answer, why) => {
  const { join, warned } = open(null, null, answer);
  expect(await join(client, { invitation: 'OLD', principal: 'anna' })).toBe(why);
  expect(warned).toHaveLength(answer instanceof Error ? 1 : 0);
});

test('a client that acts for a person keeps them, and uses no invitation', async () => {
  for (const [principal, why] of [
    ['anna', null],
    ['ben', expect.stringContaining('./svc person unlink anna toolserver client-1')],
    [null, expect.stringContaining('anna')],
  ] as const) {
    const { join, said } = open('anna', 'anna');
    expect(await join(client, { invitation: 'AN-INVITATION', principal })).toEqual(why);
    expect(said).toEqual([]);
  }
});
