import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { HandleResult } from '@svc/contract/turn.ts';
import type { ErrorBody } from '@svc/contract/error-body.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { installHostileEngine, linkSdk } from '@svc/testing/hostile-engine/install-hostile-engine.ts';
import { waitFor } from '@svc/testing/house.ts';
import { testEngine } from '@svc/testing/model-server/test-engines.ts';
import { skipNote, whyNotLinux } from '@svc/testing/skip-note.ts';
import { dataDir, startCoreProcess } from './start-core-process.ts';
import { signalIfThere } from '@svc/service-kit/process/signal-process.ts';

type Answer = { status: number; body: HandleResult & ErrorBody };

const maxReply = 200_000;

/** Each flood is 270 MB or more. A core that retained one would grow by twice that: its strings take two bytes a character. */
const maxGrowth = 400e6;

const seed = { principals: [{ key: 'anna', role: 'owner', identifiers: [{ surface: 'compat', value: 'anna' }] }] };

/** A core whose engine is a program that misbehaves. */
async function open(id: 'claude' | 'codex' | 'gemini', env: Record<string, string> = {}) {
  const dir = dataDir();
  mkdirSync(dir, { recursive: true });
  writeFileSync(path.join(dir, 'trust.seed.json'), JSON.stringify(seed));
  const sdk = id === 'claude' ? testEngine('claude') : null;
  if (sdk !== null) linkSdk(path.join(dir, 'engines'), sdk);
  const core = await startCoreProcess(dir, {
    SVC_DEFAULT_ENGINE: id,
    [`SVC_${id.toUpperCase()}_PATH`]: installHostileEngine(id, dir),
    GEMINI_API_KEY: 'test-key-of-nobody',
    // Small, so that retained memory shows.
    NODE_OPTIONS: '--max-old-space-size=1024',
    SVC_MODERATION: 'off',
    SVC_WARM_ENGINES: '0',
    SVC_MAX_REPLY_CHARS: String(maxReply),
    SVC_MAX_TURN_CHARS: '2000000',
    ...env,
  });
  onTestFinished(() => {
    for (const pid of programsOf(dir)) signalIfThere(pid, 'SIGKILL');
  });
  await core.ready();
  const say = async (text: string, conversation = 'one'): Promise<Answer> => {
    const envelope = {
      conversation_key: `compat:${conversation}`,
      channel: 'compat',
      sender: { raw_id: 'anna' },
      content: { text },
      delivery: 'sync',
    };
    const { status, body } = await requestJson<Answer['body']>(`${core.url}/v2/handle`, { body: envelope, timeoutMs: 100_000 });
    return { status, body };
  };
  const abort = () =>
    requestJson(`${core.url}/v2/abort`, { body: { conversation_key: 'compat:one' }, timeoutMs: 40_000 }).then(
      ({ status }) => status,
    );
  return {
    dir,
    core,
    say,
    abort,
    replyOf: async (...asked: Parameters<typeof say>) => (await say(...asked)).body.actions?.[0]?.text,
  };
}

const sentences = /reply is longer|wrote more than|wrote a line/;

const engines = (['claude', 'codex', 'gemini'] as const).filter((id) => id !== 'claude' || testEngine('claude') !== null);

const why = whyNotLinux();
describe.skipIf(why !== null).each(engines)(`a hostile %s${skipNote(why)}`, (id) => {
  test('that floods its output is stopped within the memory limit, while the core answers others', async () => {
    const { dir, core, say, replyOf } = await open(id);
    expect(await replyOf('hi', 'other')).toBe('hello');
    const before = peakOf(core.child.pid);
    const kinds = ['line', 'deltas', 'tiny', 'tools', ...(id === 'gemini' ? [] : ['thinking'])];
    for (const kind of kinds) {
      const flood = say(`hostile:${kind}`, kind);
      if (id !== 'codex') expect(await replyOf('hi', 'other'), kind).toBe('hello');
      const { status, body } = await flood;
      const said = body.actions?.[0]?.text ?? body.message;
      expect(said.slice(-300), kind).toMatch(sentences);
      expect([200, 500, 502, 503], kind).toContain(status);
      if (status !== 200) expect(body.error, kind).toBe('engine_output_too_large');
      if (kind === 'deltas') expect(said).toHaveLength(maxReply + said.length - said.lastIndexOf('\n\n['));
      await waitFor(
        () => programsOf(dir).length === 0,
        10_000,
        () => `${kind} goes on`,
      );
    }
    expect(await replyOf('hi', 'after')).toBe('hello');
    const growth = peakOf(core.child.pid) - before;
    expect(growth).toBeLessThan(maxGrowth);
  }, 300_000);

  test('that ignores an abort, leaves a child process or floods stderr is killed, and the conversation continues', async () => {
    const { dir, say, abort, replyOf } = await open(id);
    for (const kind of ['deaf', 'grandchild', 'closed', 'stderr', 'lines']) {
      const turn = say(`hostile:${kind}`);
      await waitFor(
        () => programsOf(dir).length > 0,
        10_000,
        () => `${kind} does not start`,
      );

      expect(await abort(), kind).toBe(200);
      const since = performance.now();
      expect((await turn).body, kind).toMatchObject({ outcome: 'aborted', actions: [] });
      expect(performance.now() - since, kind).toBeLessThan(20_000);
      expect(await replyOf('hi'), kind).toBe('hello');
      await waitFor(
        () => programsOf(dir).length === 0,
        12_000,
        () => `${kind} left: ${JSON.stringify(programsOf(dir))}`,
      );
    }
  }, 300_000);
});

const peakOf = (pid = 0): number => 1024 * Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);

/** Processes started by the engine of the core in this folder. */
function programsOf(dir: string): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && isOf(pid, dir));
}

function isOf(pid: number, dir: string): boolean {
  try {
    const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    const isGrandchild = args.includes('hostile-grandchild') && readFileSync(`/proc/${pid}/environ`, 'utf8').includes(dir);
    return isGrandchild || args.includes(`${dir}/hostile-`);
  } catch {
    return false; // it has exited meanwhile
  }
}
