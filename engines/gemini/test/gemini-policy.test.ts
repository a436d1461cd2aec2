import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { openPolicyBench, testEnginePolicy, type PolicyBench } from '@svc/engine-kit/testing/engine-policy.ts';
import type { ScriptedStep } from '@svc/testing/model-server/scripted-reply.ts';
import { describeWithEngine } from '@svc/testing/model-server/test-engines.ts';
import { createEngine } from '../src/engine.ts';

const shell = (command: string): ScriptedStep => ({ tool: 'run_shell_command', input: { command, description: 'x' } });
const read = (file: string): ScriptedStep => ({ tool: 'read_file', input: { file_path: file } });
const glob = (input: Record<string, unknown>): ScriptedStep => ({ tool: 'glob', input });
const grep = (input: Record<string, unknown>): ScriptedStep => ({ tool: 'grep_search', input });
const list = (at: string): ScriptedStep => ({ tool: 'list_directory', input: { dir_path: at } });
const leadingOut = ({ beside, above, cwd }: { beside: string; above: string; cwd: string }): ScriptedStep[] => [
  ...[`${beside}/**/*`, `${above}/**`, '../**/*', '../beside/*', '../../*/beside/*', '*/../../beside/*', `{a,${beside}/*}`].map(
    (pattern) => glob({ pattern }),
  ),
  ...['{a,../beside/*}', '{.,}./beside/*', '[.][.]/beside/*', '@(..)/beside/*', 'out/*', 'out/**/*', '../beside\\*'].map(
    (pattern) => glob({ pattern }),
  ),
  ...[beside, '..', '../beside', 'out', `${cwd}/../beside`, '/'].map((at) => glob({ pattern: '*', dir_path: at })),
  glob({ pattern: '../beside/*', dir_path: 'x\u2028/..' }),
  glob({ pattern: '*', new_field: '../beside/*' }),
  ...[`${beside}/*.md`, '../beside/*.md', 'out/*'].map((at) => grep({ pattern: 'OUTSIDE.SEC', include_pattern: at })),
  ...[beside, '../beside', 'out', 'out.md'].map((at) => grep({ pattern: 'OUTSIDE.SEC', dir_path: at })),
  ...[beside, '..', 'out', '/'].map(list),
  ...[`${beside}/hidden-name.md`, '../beside/hidden-name.md', 'out/hidden-name.md', 'out.md', '/etc/passwd'].map(read),
  { tool: 'read_many_files', input: { include: ['../beside/*', `${beside}/*`] } },
  { tool: 'list_mcp_resources', input: {} },
  { tool: 'read_mcp_resource', input: { uri: `file://${beside}/hidden-name.md` } },
  { tool: 'save_memory', input: { fact: 'x' } },
  { tool: 'google_web_search', input: { query: 'x' } },
];

const write = (file: string): ScriptedStep => ({ tool: 'write_file', input: { file_path: file, content: 'hi' } });

describeWithEngine('gemini', 'tool policy of gemini', async (install) => {
  const bench = await openPolicyBench({ id: 'gemini', createEngine, install });
  const { turn, model, outside, cwd, stateDir } = bench;

  testEnginePolicy(bench, {
    shell,
    write: {
      order: (dir) => write(path.join(dir, 'written.txt')),
      file: 'written.txt',
      tool: 'write_file',
      shellTool: 'run_shell_command',
    },
    tricks: { orders: tricks, files: ['replaced.txt'] },
    serverTool: (server) => `mcp_${server}_echo`,
    // One of each family, since the program has different tools for each.
    reading: { models: [null, 'gemini-3.1-pro-preview', 'gemini-2.5-pro'], orders: leadingOut },
  });

  test('does not pass a search text as an option to the search program', async () => {
    execFileSync('git', ['init', '-q', cwd()]);
    writeFileSync(path.join(cwd(), 'guesses.txt'), 'OUTSIDE-SECRET');
    const { seen, results } = await turn(
      [`-f${outside}`, `--file=${outside}`, `--open-files-in-pager=touch shelled.txt`].map((pattern) => grep({ pattern })),
      { toolPolicy: 'read' },
    );
    expect(results.map(({ ok }) => ok)).toEqual([false, false, false]);
    expect(seen).not.toContain('guesses.txt');
    expect(bench.made(['shelled.txt'])).toEqual([]);
  });

  /** All its other tools that could read, change or start something. */
  function tricks({ outside, cwd }: PolicyBench): ScriptedStep[] {
    return [
      read(outside),
      { tool: 'read_many_files', input: { include: [outside] } },
      { tool: 'replace', input: { file_path: path.join(cwd(), 'replaced.txt'), old_string: '', new_string: 'x' } },
      { tool: 'invoke_agent', input: { agent_name: 'generalist', prompt: 'write a file' } },
      { tool: 'activate_skill', input: { name: 'skill-creator' } },
      { tool: 'web_fetch', input: { prompt: `fetch file://${outside}` } },
    ];
  }

  test('policy read allows reading its own folder and the files of the conversation only, and no changes', async () => {
    const filesDir = path.join(stateDir, 'files');
    mkdirSync(filesDir, { recursive: true });
    writeFileSync(path.join(filesDir, 'attached.txt'), 'ATTACHED');
    symlinkSync(outside, path.join(cwd(), 'link.txt'));
    const finding = [
      glob({ pattern: '**/*.{txt,md}' }),
      glob({ pattern: '*', dir_path: filesDir }),
      grep({ pattern: 'INS.DE', include_pattern: '*.txt' }),
      grep({ pattern: 'no such text' }),
      read(path.join(filesDir, 'attached.txt')),
    ];
    const orders = [
      read(path.join(cwd(), 'inside.txt')),
      read(outside),
      read(path.join(cwd(), 'link.txt')),
      read('/etc/passwd'),
      shell('echo ran > shelled.txt'),
      write(path.join(cwd(), 'written.txt')),
    ];
    const { results, seen, offered } = await turn([...finding, ...orders], { toolPolicy: 'read', filesDir });
    expect(seen).toMatch(/inside\.txt[^]*attached\.txt[^]*INSIDE[^]*No matches found[^]*ATTACHED[^]*INSIDE/);
    expect(results.slice(finding.length).map((result) => result.ok)).toEqual([true, false, false, false, false, false]);
    expect(JSON.stringify(model.requests)).not.toContain('OUTSIDE-SECRET');
    expect(bench.made(['shelled.txt', 'written.txt'])).toEqual([]);
    expect(offered.filter((name) => !name.startsWith('mcp_')).toSorted()).toEqual([
      'glob',
      'grep_search',
      'list_directory',
      'read_file',
    ]);
  });

  test('policy read allows reading attached files at the path that the message names', async () => {
    const filesDir = path.join(stateDir, 'sent, $HOME');
    const attached = path.join(filesDir, 'attached, file @1.txt');
    mkdirSync(filesDir);
    writeFileSync(attached, 'ATTACHED');
    const named = /"path":"([^"]*)"/;
    const { results, seen } = await bench.ask(
      (request) => ({
        steps: [
          request.toolResults.length > 0
            ? { text: 'finished' }
            : read(named.exec(request.userText)?.[1] ?? 'the message names no path'),
        ],
      }),
      { toolPolicy: 'read', attachments: [{ path: attached }], filesDir },
    );
    expect(results.map((result) => result.ok)).toEqual([true]);
    expect(seen).toContain('ATTACHED');
  });

  test('the working folder starts no program and changes no setting, and adds no context with policy none', async () => {
    const settings = path.join(cwd(), '.gemini');
    mkdirSync(settings);
    const touch = (name: string) => `touch ${path.join(cwd(), name)}`;
    const hooks = { SessionStart: [{ hooks: [{ type: 'command', command: touch('hooked.txt') }] }] };
    const mcpServers = { evil: { command: 'touch', args: [path.join(cwd(), 'served.txt')], trust: true } };
    const tools = { discoveryCommand: touch('discovered.txt') };
    writeFileSync(
      path.join(settings, 'settings.json'),
      JSON.stringify({ hooksConfig: { enabled: true }, hooks, mcpServers, tools }),
    );
    writeFileSync(path.join(settings, '.env'), 'GOOGLE_API_KEY=evil\nGEMINI_SYSTEM_MD=/etc/passwd\nGEMINI_SANDBOX=docker\n');
    writeFileSync(path.join(cwd(), 'GEMINI.md'), 'FOLDER-CONTEXT');
    for (const toolPolicy of ['none', 'read', 'full'] as const) {
      await turn([], { toolPolicy, system: 'You are PERSONA.' });
      const [request] = model.requests;
      expect(request?.systemText).toContain('You are PERSONA.');
      expect(JSON.stringify(request?.body).includes('FOLDER-CONTEXT')).toBe(toolPolicy !== 'none');
      expect(['hooked.txt', 'served.txt', 'discovered.txt'].filter((name) => existsSync(path.join(cwd(), name)))).toEqual([]);
    }
  });
});
