import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';
import type { Instance } from '@svc/contract/instance.ts';
import { createSecretInput } from '../vault/secret-input.ts';
import { addConnector, type AddDeps } from './add-connector.ts';
import type { AddRequest } from './connector-command.ts';

const meta: ConnectorMeta = {
  type: 'messenger',
  displayName: 'Messenger',
  supportsMultiple: true,
  capabilities: {},
  credentialKeys: ['bot_token_secret_key', 'other_key'],
  configSchema: {
    type: 'object',
    required: ['bot_token_secret_key', 'room', 'http_port'],
    properties: {
      bot_token_secret_key: { type: 'string', title: 'Bot token' },
      other_key: { type: 'string', title: 'Other' },
      room: { type: 'integer', title: 'Room', description: 'Its number.' },
      http_port: { type: 'integer', title: 'Port', default: 3008 },
    },
  },
  outbound: false,
};
const request: AddRequest = { action: 'add', type: 'messenger', name: null, set: {}, secrets: [], off: false, keep: false };
const whole: AddRequest = { ...request, set: { room: '7', bot_token_secret_key: 'MY_TOKEN' } };
const other = { id: 'messenger', config: { bot_token_secret_key: 'MESSENGER_BOT_TOKEN' } } as unknown as Instance;

type SetUp = { isTerminal?: boolean; typed?: string[]; piped?: string; turnsOut?: Partial<Instance>; instances?: Instance[] };

function setUp({ isTerminal = false, typed = [], piped = '', turnsOut = { status: 'running' }, instances = [] }: SetUp) {
  const done: unknown[] = [];
  const questions: string[] = [];
  const said: string[] = [];
  const stream = Object.assign(new PassThrough(), { isTTY: isTerminal, setRawMode: () => undefined });
  // A terminal stays open, a pipe ends.
  if (isTerminal) stream.write(piped);
  else stream.end(piped);
  const instance = { id: 'messenger-2', last_exit: null, reason: null, status: 'starting' } as unknown as Instance;
  const api = {
    types: async () => [meta],
    list: async () => instances,
    create: async (body: object) => (done.push(['create', body]), instance),
    view: async () => ({ ...instance, ...turnsOut }),
    remove: async (id: string) => void done.push(['remove', id]),
    storeSecret: async (name: string, value: string) => {
      done.push(['secret', name, value]);
      return { ok: true as const, name, stored_in: 'file' as const, min_trust: null };
    },
  } as unknown as AddDeps['api'];
  const deps: AddDeps = {
    api,
    input: createSecretInput(stream, () => undefined),
    ask: async (question) => (questions.push(question), typed.shift() ?? 'typed too little'),
    inviteOwner: async ({ invite_link }) => (typeof invite_link === 'string' ? `Open ${invite_link}.` : null),
    say: (text) => void said.push(text),
    pause: async () => undefined,
  };
  return { deps, done, questions, said };
}

describe('addConnector()', () => {
  test('asks at a terminal for required settings without a default and for credentials', async () => {
    const { deps, done, questions } = setUp({ isTerminal: true, typed: ['', '7'], piped: 'the token\n', instances: [other] });
    await addConnector(deps, 'messenger', request);
    expect(questions).toEqual(['Room (Its number.): ', 'Room (Its number.): ']);
    expect(done).toEqual([
      ['secret', 'MESSENGER_BOT_TOKEN_2', 'the token'],
      [
        'create',
        {
          type: 'messenger',
          name: 'messenger',
          enabled: true,
          config: { room: 7, bot_token_secret_key: 'MESSENGER_BOT_TOKEN_2' },
        },
      ],
    ]);
  });

  test('shows the first steps of the connector', async () => {
    const { deps, said } = setUp({ turnsOut: { status: 'running', first_steps: 'Open the bot.\n\u001b[31mThen write.' } });
    await addConnector(deps, 'messenger', whole);
    expect(said.at(-1)).toMatch(/^Open the bot\.\n.*Then write\.$/);
    expect(said.at(-1)).not.toContain('\u001b');
  });

  test('shows last how the owner gets access, once it runs', async () => {
    const invite_link = 'https://chat.example/{code}';
    const { deps, said } = setUp({ turnsOut: { status: 'running', first_steps: 'Open the bot.', invite_link } });
    await addConnector(deps, 'messenger', whole);
    expect(said.slice(-2)).toEqual(['Open the bot.', 'Open https://chat.example/{code}.']);
  });

  test('does not ask for given settings, nor without a terminal', async () => {
    const said = setUp({ isTerminal: true });
    const set = { room: '7', bot_token_secret_key: 'MY_TOKEN' };
    await addConnector(said.deps, 'messenger', { ...request, name: 'My bot', set, off: true });
    expect([said.questions, said.done]).toEqual([
      [],
      [['create', { type: 'messenger', name: 'My bot', enabled: false, config: { room: 7, bot_token_secret_key: 'MY_TOKEN' } }]],
    ]);
    const script = setUp({});
    await expect(addConnector(script.deps, 'messenger', request)).rejects.toMatchObject({
      message: 'nothing was added: messenger needs bot_token_secret_key, room.',
      run: `printf '%s\\n' "$VALUE" | ./svc connector add messenger --secret bot_token_secret_key --set room=VALUE`,
    });
    expect([script.questions, script.done]).toEqual([[], []]);
  });

  test('reads several credentials from a pipe, one per line, and keeps a given name', async () => {
    const { deps, done } = setUp({ piped: 'one\ntwo\n' });
    const set = { other_key: 'MINE', room: '7' };
    await addConnector(deps, 'messenger', { ...request, set, secrets: ['bot_token_secret_key', 'other_key'] });
    expect(done.slice(0, 2)).toEqual([
      ['secret', 'MESSENGER_BOT_TOKEN', 'one'],
      ['secret', 'MINE', 'two'],
    ]);
  });

  test('stores no secret when the pipe is empty', async () => {
    const { deps, done } = setUp({});
    const adding = addConnector(deps, 'messenger', { ...request, secrets: ['bot_token_secret_key'] });
    await expect(adding).rejects.toThrow('no value was given');
    expect(done).toEqual([]);
  });

  test('removes a connector that does not start, with the reason, unless it is to be kept', async () => {
    const reason = 'The token is wrong.';
    const turnsOut = { status: 'backoff', reason, last_exit: { code: 1, signal: null, at: 0, reason } } as const;
    const { deps, done } = setUp({ turnsOut });
    const failed = addConnector(deps, 'messenger', whole);
    await expect(failed).rejects.toMatchObject({
      message: expect.stringContaining('nothing was added'),
      why: expect.stringContaining(reason),
    });
    expect(done.at(-1)).toEqual(['remove', 'messenger-2']);
    const kept = setUp({ turnsOut });
    await expect(addConnector(kept.deps, 'messenger', { ...whole, keep: true })).rejects.toThrow('does not start');
    expect(kept.done).toHaveLength(1);
  });

  test('gives up on a connector that does not report a status', async () => {
    const { deps, done } = setUp({ turnsOut: {} });
    await expect(addConnector(deps, 'messenger', whole)).rejects.toMatchObject({
      why: expect.stringContaining('has not said'),
    });
    expect(done.at(-1)).toEqual(['remove', 'messenger-2']);
  });
});
