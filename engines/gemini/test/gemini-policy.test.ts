import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { openPolicyBench, testEnginePolicy, type PolicyBench } from '@svc/engine-kit/testing/engine-policy.ts';
import type { ScriptedStep } from '@svc/testing/model-server/scripted-reply.ts';
import { describeWithEngine } from '@svc/testing/model-server/test-engines.ts';
import { createEngine } from '../src/engine.ts';

const shell = (command: string): ScriptedStep => ({ tool: 'run_shell_command', input: { command, description: 'x' } });
const read = (file: string): ScriptedStep => ({ tool: 'read_file', input: { file_path: file } });
const write = (file: string): ScriptedStep => ({ tool: 'write_file', input: { file_path: file, content: 'hi' } });

describeWithEngine('gemini', 'what gemini may do is the tool policy of the turn', async (install) => {
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
  });

  /** Everything else it has that could read, change or start something. */
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

  test('with policy read it reads its own folder, nothing else of the owner, and changes nothing', async () => {
    symlinkSync(outside, path.join(cwd(), 'link.txt'));
    const orders = [
      read(path.join(cwd(), 'inside.txt')),
      read(outside),
      read(path.join(cwd(), 'link.txt')),
      read('/etc/passwd'),
      shell('echo ran > shelled.txt'),
      write(path.join(cwd(), 'written.txt')),
    ];
    const { results, seen, offered } = await turn(orders, { toolPolicy: 'read' });
    expect(results.map((result) => result.ok)).toEqual([true, false, false, false, false, false]);
    expect(seen).toContain('INSIDE');
    expect(JSON.stringify(model.requests)).not.toContain('OUTSIDE-SECRET');
    expect(bench.made(['shelled.txt', 'written.txt'])).toEqual([]);
    expect(offered.filter((name) => !name.startsWith('mcp_')).toSorted()).toEqual([
      'glob',
      'grep_search',
      'list_directory',
      'read_file',
    ]);
  });

  test('with policy read the attached files are read at the path that the message names', async () => {
    const attached = path.join(stateDir, 'attached, file @1.txt');
    writeFileSync(attached, 'ATTACHED');
    const named = /"path":"([^"]*attached__file__1\.txt)"/;
    const { results, seen } = await bench.ask(
      (request) => ({
        steps: [
          request.toolResults.length > 0
            ? { text: 'finished' }
            : read(named.exec(request.userText)?.[1] ?? 'the message names no path'),
        ],
      }),
      { toolPolicy: 'read', attachments: [{ path: attached }] },
    );
    expect(results.map((result) => result.ok)).toEqual([true]);
    expect(seen).toContain('ATTACHED');
  });

  test('what lies in the working folder starts nothing and changes no setting, and who may only talk gets no context from it', async () => {
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
