import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { startModelServer } from '@svc/testing/model-server/start-model-server.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import type { TranscriptEngine } from '@svc/service-kit/transcript/transcript-line.ts';
import { signalIfThere } from '@svc/service-kit/process/signal-process.ts';

/** The command line of a real engine in its install folder. */
const programs: Record<TranscriptEngine, (dir: string) => string[]> = {
  claude: (dir) => [path.join(dir, `node_modules/@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}/claude`)],
  codex: (dir) => {
    const vendor = path.join(dir, `node_modules/@openai/codex-${process.platform}-${process.arch}/vendor`);
    return [path.join(vendor, readdirSync(vendor)[0] ?? '', 'bin/codex')];
  },
  gemini: (dir) => [process.execPath, path.join(dir, 'node_modules/@google/gemini-cli/bundle/gemini.js'), '-m', 'gemini-2.5-pro'],
};

const printArgs: Record<TranscriptEngine, (prompt: string) => string[]> = {
  claude: (prompt) => ['-p', prompt],
  codex: (prompt) => ['exec', '--skip-git-repo-check', prompt],
  gemini: (prompt) => ['-y', '-p', prompt],
};

/** A person with a home folder, a project, and engines that are pointed at the scripted model. */
export async function openTestPerson() {
  const folder = temporaryFolder();
  const root = realpathSync(folder.path);
  const home = path.join(root, 'home');
  const project = path.join(root, 'project');
  for (const dir of [path.join(home, '.codex'), path.join(home, '.gemini'), path.join(project, '.git')])
    mkdirSync(dir, { recursive: true });
  writeFileSync(path.join(project, 'a.txt'), 'hi\n');
  const model = await startModelServer();
  const env: Record<string, string> = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    TERM: 'xterm-256color',
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_AUTH_TOKEN: 'local',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    GEMINI_API_KEY: 'local',
    GOOGLE_GEMINI_BASE_URL: model.url,
    GEMINI_CLI_TRUST_WORKSPACE: 'true',
  };
  configure(home, project, model.url);

  return {
    home,
    project,
    model,
    /** The command of an engine, for a shell in a terminal. */
    command: (engine: TranscriptEngine, dir: string, args: readonly string[] = []) =>
      `exec env -i ${[...Object.entries(env).map(([name, value]) => `${name}=${value}`), ...programs[engine](dir), ...args].map((word) => `'${word}'`).join(' ')}`,
    /** Asks an engine once, outside of any terminal; resolves when it has ended. */
    async ask(engine: TranscriptEngine, dir: string, prompt: string): Promise<void> {
      const [program = '', ...args] = programs[engine](dir);
      const child = spawn(program, [...args, ...printArgs[engine](prompt)], { cwd: project, env, stdio: 'ignore' });
      await once(child, 'exit');
    },
    async close() {
      for (const pid of processesOf(home)) signalIfThere(pid, 'SIGKILL');
      await model.close();
      folder.remove();
    },
  };
}

export type TestPerson = Awaited<ReturnType<typeof openTestPerson>>;

/** What a first start would ask. */
function configure(home: string, project: string, url: string): void {
  const projects = { [project]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } };
  const claude = { hasCompletedOnboarding: true, theme: 'dark', numStartups: 5, projects };
  writeFileSync(path.join(home, '.claude.json'), JSON.stringify(claude));
  const provider = `[model_providers.t]\nname = "t"\nbase_url = "${url}/v1"\nwire_api = "responses"`;
  const codex = `model = "scripted-model"\nmodel_provider = "t"\n${provider}\n[projects."${project}"]\ntrust_level = "trusted"\n`;
  writeFileSync(path.join(home, '.codex/config.toml'), codex);
  const gemini = { security: { auth: { selectedType: 'gemini-api-key' } }, general: { enableAutoUpdate: false } };
  writeFileSync(path.join(home, '.gemini/settings.json'), JSON.stringify(gemini));
}

/** What an engine left running: all that has this home. */
function processesOf(home: string): number[] {
  if (!existsSync('/proc/self/environ')) return [];
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => environOf(pid).includes(`HOME=${home}\0`)).map(Number);
}

function environOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8');
  } catch {
    return ''; // gone, or not ours
  }
}
