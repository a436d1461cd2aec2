import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startModelServer, type ModelServer } from '@svc/testing/model-server/start-model-server.ts';
import { testEngine } from '@svc/testing/model-server/test-engines.ts';
import { openBrowser } from './browser.ts';
import { documentNetwork } from './document-network.ts';
import { openToolserver, type OpenToolserver } from './open-toolserver.ts';
import { openRealProgram, type RealProgram } from './real-program.ts';

const howToInstall = 'the program is not there; run: node scripts/install-test-engines.ts';

let model: ModelServer;
beforeAll(async () => {
  model = await startModelServer();
});
afterAll(() => model.close());

/** The document that Claude Code names as its client id, as published at that address. */
const claudeDocument = {
  client_id: 'https://claude.ai/oauth/claude-code-client-metadata',
  client_name: 'Claude Code',
  client_uri: 'https://claude.ai',
  redirect_uris: ['http://localhost/callback', 'http://127.0.0.1/callback'],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
};

const question = 'USE_TOOL ask_assistant {"question":"how are you?"}';

/** The output of the model with the answer of the tool. */
const answered = /Tool said: .*You asked: how are you\? All is well\./s;

/** A server whose assistant writes its answer in three pieces. */
async function openAnswering(before: (dir: string) => void = () => undefined): Promise<OpenToolserver> {
  const server = await openToolserver({ before, network: documentNetwork(claudeDocument) });
  server.core.script = ({ handlers, result, envelope }) => {
    const answer = `You asked: ${envelope.content.text} All is well.`;
    for (const piece of answer.split(/(?<= )/)) handlers.onDelta?.(piece);
    return result({ actions: [{ type: 'reply', text: answer }] });
  };
  return server;
}

/** The operator's part: approves the page that the program opened, and returns to the program. */
async function approveOpened(server: OpenToolserver, program: RealProgram): Promise<void> {
  const browser = openBrowser();
  const page = await browser.open(await program.opened());
  const back = await browser.submit(page, { code: await server.code(), decision: 'approve' });
  expect(back.url.origin, back.text).not.toBe(page.url.origin);
  expect(back.status, back.text).toBe(200);
}

const openClaude = (dir: string, env: Readonly<Record<string, string>> = {}) =>
  openRealProgram([path.join(dir, 'node_modules/@anthropic-ai/claude-agent-sdk-linux-x64/claude')], {
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: 'a-key',
    ENABLE_TOOL_SEARCH: 'false',
    DISABLE_AUTOUPDATER: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    ...env,
  });

async function askClaude(server: OpenToolserver, claude: RealProgram, options: readonly string[]): Promise<string> {
  const added = await claude.run(['mcp', 'add', '--transport', 'http', ...options, 'assistant', `${server.url}/mcp`]);
  expect(added.output).toContain('Added HTTP MCP server assistant');
  const [login] = await Promise.all([claude.runInTerminal(['mcp', 'login', 'assistant']), approveOpened(server, claude)]);
  expect(login.output).toContain('Authenticated with "assistant"');
  return (await claude.run(['-p', question, '--allowedTools', 'mcp__assistant'])).output;
}

test('Claude Code signs in by its client metadata document and gets an answer', async ({ skip }) => {
  const dir = testEngine('claude');
  skip(dir === null, howToInstall);
  const server = await openAnswering();
  expect(await askClaude(server, openClaude(dir ?? ''), [])).toMatch(answered);
});

test('Claude Code signs in as a client of the operator and gets an answer', async ({ skip }) => {
  const dir = testEngine('claude');
  skip(dir === null, howToInstall);
  const [client_id, client_secret] = ['claude-code', 'a secret of the operator'];
  const redirect_uris = ['http://localhost/callback', 'http://127.0.0.1/callback'];
  const client = {
    client_id,
    client_secret,
    client_name: 'Claude Code',
    redirect_uris,
    identity: { userId: 'anna', username: 'Anna' },
  };
  const before = (folder: string) =>
    writeFileSync(path.join(folder, 'clients.json'), JSON.stringify({ clients: [client] }), { mode: 0o600 });
  const server = await openAnswering(before);
  const claude = openClaude(dir ?? '', { MCP_CLIENT_SECRET: client_secret });
  expect(await askClaude(server, claude, ['--client-id', client_id, '--client-secret'])).toMatch(answered);
  expect(server.core.turns[0]?.envelope.sender).toMatchObject({ raw_id: 'anna' });
});

test('Codex signs in and gets an answer', async ({ skip }) => {
  const dir = testEngine('codex');
  skip(dir === null, howToInstall);
  const server = await openAnswering();
  const codex = openRealProgram([path.join(dir ?? '', 'node_modules/.bin/codex')], { SCRIPTED_KEY: 'a-key' });
  mkdirSync(path.join(codex.home, '.codex'));
  const [added] = await Promise.all([
    codex.run(['mcp', 'add', 'assistant', '--url', `${server.url}/mcp`, '--oauth-client-registration', 'dcr']),
    approveOpened(server, codex),
  ]);
  expect(added.code, added.output).toBe(0);
  const provider = `model_providers.scripted={name="scripted",base_url="${model.url}/v1",wire_api="responses",env_key="SCRIPTED_KEY"}`;
  const approve = 'mcp_servers.assistant.default_tools_approval_mode="approve"';
  const options = [provider, 'model_provider="scripted"', 'model="scripted"', approve].flatMap((option) => ['-c', option]);
  const asked = await codex.run(['exec', '--json', '--skip-git-repo-check', ...options, question]);
  expect(asked.output).toMatch(answered);
});

test('Gemini CLI signs in and gets an answer', async ({ skip }) => {
  const dir = testEngine('gemini');
  skip(dir === null, howToInstall);
  const server = await openAnswering();
  const gemini = openRealProgram([path.join(dir ?? '', 'node_modules/.bin/gemini')], {
    GEMINI_API_KEY: 'a-key',
    GOOGLE_GEMINI_BASE_URL: model.url,
    GEMINI_CLI_TRUST_WORKSPACE: 'true',
  });
  mkdirSync(path.join(gemini.home, '.gemini'));
  // No statistics are sent to its vendor.
  const settings = { security: { auth: { selectedType: 'gemini-api-key' } }, privacy: { usageStatisticsEnabled: false } };
  writeFileSync(path.join(gemini.home, '.gemini/settings.json'), JSON.stringify(settings));
  const url = `${server.url}/mcp`;
  const added = await gemini.run(['mcp', 'add', '--scope', 'user', '--transport', 'http', '--trust', 'assistant', url]);
  expect(added.output).toContain('assistant');
  const answers = [{ after: /\[Y\/n\]/, type: 'y\n' }];
  const [login] = await Promise.all([gemini.runAnswered(['-p', '/mcp auth assistant'], answers), approveOpened(server, gemini)]);
  expect(login.output).toContain("Successfully authenticated with MCP server 'assistant'");
  const asked = await gemini.run(['--model', 'gemini-2.5-flash', '-p', question]);
  expect(asked.output).toMatch(answered);
});
