import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInputStream } from '@svc/engine-claude/input-stream.ts';
import { acceptClaude } from '@svc/engine-claude/find-claude.ts';
import { loadSdk } from '@svc/engine-claude/find-claude.ts';
import type { ClaudeUserMessage } from '@svc/engine-claude/claude-messages.ts';
import { startAppServer } from '@svc/engine-codex/app-server.ts';
import { acceptCodex } from '@svc/engine-codex/find-codex.ts';
import { openModelCatalogs } from '@svc/engine-codex/model-catalog.ts';

/** One conversation with a vendor's program and nothing of ours around it. `onFirst` is called at the first words of a reply. */
export type Harness = { turn(text: string, onFirst: () => void): Promise<void>; close(): Promise<void> };

type Place = { install: string; modelUrl: string; dir: string };

/** How a person would drive each program by its manual, kept open where it can be. */
export const harnesses: Record<'claude' | 'codex' | 'gemini', (place: Place) => Promise<Harness>> = {
  claude: openClaude,
  codex: openCodex,
  gemini: (place) => Promise.resolve(openGemini(place)),
};

const baseEnv = (dir: string) => ({ PATH: process.env['PATH'] ?? '', HOME: dir });

async function openClaude({ install, modelUrl, dir }: Place): Promise<Harness> {
  const found = acceptClaude(install, install);
  if (typeof found === 'string') throw new Error(found);
  const sdk = await loadSdk(found.sdkDir);
  const input = createInputStream<ClaudeUserMessage>();
  const env = {
    ...baseEnv(dir),
    CLAUDE_CONFIG_DIR: path.join(dir, 'config'),
    ANTHROPIC_BASE_URL: modelUrl,
    ANTHROPIC_AUTH_TOKEN: 'x',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
  };
  const systemPrompt = { type: 'preset', preset: 'claude_code', append: 'You are an assistant.' };
  const options = { cwd: dir, env, includePartialMessages: true, systemPrompt, permissionMode: 'default' };
  const query = sdk.query({ prompt: input, options: { ...options, pathToClaudeCodeExecutable: found.program } });
  const messages = query[Symbol.asyncIterator]();
  return {
    async turn(text, onFirst) {
      const content = [{ type: 'text' as const, text }];
      input.push({ type: 'user', message: { role: 'user', content }, parent_tool_use_id: null });
      for (let step = await messages.next(); !step.done; step = await messages.next()) {
        const message = step.value;
        if (message.type === 'stream_event' && 'delta' in message.event) onFirst();
        if (message.type === 'result') return;
      }
      throw new Error('claude ended');
    },
    close: () => {
      input.end();
      return Promise.resolve(query.close());
    },
  };
}

async function openCodex({ install, modelUrl, dir }: Place): Promise<Harness> {
  const found = acceptCodex(install);
  if (typeof found === 'string') throw new Error(found);
  const env = { ...baseEnv(dir), CODEX_HOME: dir };
  const log = { debug() {}, info() {}, warn() {} };
  const { writer: catalog } = await openModelCatalogs({ program: found.program, env, cwd: dir });
  const server = await startAppServer({ program: found.program, env, cwd: dir, log, maxLine: 1024 ** 2, catalog });
  const provider = { name: 'svc', base_url: `${modelUrl}/v1`, wire_api: 'responses', experimental_bearer_token: 'x' };
  const { thread } = await server.request<{ thread: { id: string } }>('thread/start', {
    cwd: dir,
    approvalPolicy: 'never',
    sandbox: 'danger-full-access',
    model: 'scripted-model',
    developerInstructions: 'You are an assistant.',
    config: { model_provider: 'svc', model_providers: { svc: provider } },
  });
  return {
    async turn(text, onFirst) {
      const ended = Promise.withResolvers<void>();
      const stop = server.subscribe(({ method }) => {
        if (method === 'item/agentMessage/delta') onFirst();
        if (method === 'turn/completed') ended.resolve();
      });
      await server.request('turn/start', { threadId: thread.id, input: [{ type: 'text', text, text_elements: [] }] });
      await ended.promise;
      stop();
    },
    close: () => server.stop(),
  };
}

function openGemini({ install, modelUrl, dir }: Place): Harness {
  const script = path.join(install, 'node_modules/@google/gemini-cli/bundle/gemini.js');
  const home = path.join(dir, 'home');
  mkdirSync(path.join(home, '.gemini'), { recursive: true });
  const settings = {
    security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
    general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
    privacy: { usageStatisticsEnabled: false },
  };
  writeFileSync(path.join(home, '.gemini/settings.json'), JSON.stringify(settings));
  const env = {
    ...baseEnv(dir),
    GEMINI_CLI_HOME: home,
    GEMINI_CLI_NO_RELAUNCH: 'true',
    GEMINI_API_KEY: 'x',
    GOOGLE_GEMINI_BASE_URL: modelUrl,
    NODE_COMPILE_CACHE: path.join(dir, 'compile-cache'),
  };
  const id = randomUUID();
  let turns = 0;
  return {
    turn(text, onFirst) {
      const session = turns++ === 0 ? ['--session-id', id] : ['--resume', id];
      const args = [script, '--prompt', '', '-o', 'stream-json', '--model=gemini-2.5-flash', ...session];
      const child = spawn(process.execPath, args, { cwd: dir, env, stdio: ['pipe', 'pipe', 'ignore'] });
      child.stdin.end(text);
      child.stdout.setEncoding('utf8').on('data', (lines: string) => lines.includes('"assistant"') && onFirst());
      return new Promise((resolve, reject) => {
        child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`gemini ended with ${code}`))));
      });
    },
    close: () => Promise.resolve(),
  };
}
