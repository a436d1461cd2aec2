import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { openPolicyBench, testEnginePolicy } from '@svc/engine-kit/testing/engine-policy.ts';
import type { ScriptedStep } from '@svc/testing/model-server/scripted-reply.ts';
import { describeWithEngine } from '@svc/testing/model-server/test-engines.ts';
import { createEngine } from '../src/engine.ts';
import { models } from '../src/pin.ts';

const bash = (command: string): ScriptedStep => ({ tool: 'Bash', input: { command, description: 'x' } });
const write = (file: string): ScriptedStep => ({ tool: 'Write', input: { file_path: file, content: 'hi' } });
const read = (file: string): ScriptedStep => ({ tool: 'Read', input: { file_path: file } });
const glob = (input: Record<string, unknown>): ScriptedStep => ({ tool: 'Glob', input });
const grep = (input: Record<string, unknown>): ScriptedStep => ({ tool: 'Grep', input });

const leadingOut = ({ beside, above, cwd }: { beside: string; above: string; cwd: string }): ScriptedStep[] => [
  ...[
    `${beside}/**/*`,
    `${above}/**`,
    '../**/*',
    '../beside/*',
    '*/../../beside/*',
    `{a,${beside}/*}`,
    '{a,../beside/*}',
    '{.,}./beside/*',
    '[.][.]/beside/*',
  ].map((pattern) => glob({ pattern })),
  ...['out/*', 'out/**/*', '../beside\\*', '~/**/*.md', '‥/beside/*'].map((pattern) => glob({ pattern })),
  ...[beside, '..', '../beside', 'out', `${cwd}/../beside`, `${cwd}/out`, '~', '/'].map((at) => glob({ pattern: '*', path: at })),
  ...[`${beside}/*.md`, '../beside/*.md', 'out/*'].map((pattern) => grep({ pattern: '.', glob: pattern })),
  ...[beside, '../beside', 'out', 'out.md'].map((at) => grep({ pattern: '.', path: at, output_mode: 'content' })),
  ...[`${beside}/hidden-name.md`, '../beside/hidden-name.md', 'out/hidden-name.md', 'out.md', '/etc/passwd'].map(read),
  { tool: 'LS', input: { path: beside } },
  { tool: 'NotebookRead', input: { notebook_path: `${beside}/hidden-name.md` } },
  { tool: 'LSP', input: { filePath: `${beside}/hidden-name.md`, operation: 'documentSymbol', line: 1, character: 1 } },
  { tool: 'Agent', input: { description: 'x', prompt: 'list files', subagent_type: 'Explore' } },
  { tool: 'Skill', input: { skill: 'init' } },
  { tool: 'ReadMcpResourceTool', input: { server: 'wild', uri: `file://${beside}/hidden-name.md` } },
];

describeWithEngine('claude', 'tool policy of claude', async (install) => {
  const bench = await openPolicyBench({ id: 'claude', createEngine, install });
  const { turn, model, outside, cwd, stateDir } = bench;

  testEnginePolicy(bench, {
    shell: bash,
    write: { order: (dir) => write(path.join(dir, 'written.txt')), file: 'written.txt', tool: 'Write', shellTool: 'Bash' },
    tricks: { orders: ({ outside: file }) => [read(file), { tool: 'mcp__calm__echo', input: { text: 'x' } }], files: [] },
    serverTool: (server) => `mcp__${server}__echo`,
    // The program's default, the most and the least capable model; all of them with `./svc test --deep`.
    reading: { models: [null, ...(process.env.TEST_DEEP ? models : [models[0], models.at(-1) ?? null])], orders: leadingOut },
  });

  test('policy read allows reading its own folder and the attached files only, and no changes', async () => {
    const filesDir = path.join(stateDir, 'sent');
    const attached = path.join(filesDir, 'attached.txt');
    mkdirSync(filesDir);
    writeFileSync(attached, 'ATTACHED');
    symlinkSync(outside, path.join(cwd(), 'link.txt'));
    const finding = [
      glob({ pattern: '**/*.{txt,md}' }),
      glob({ pattern: '*', path: filesDir }),
      grep({ pattern: 'INS.DE', glob: '*.txt', output_mode: 'content' }),
    ];
    const { results: all } = await turn(
      [
        ...finding,
        read(path.join(cwd(), 'inside.txt')),
        read(attached),
        read(outside),
        read(path.join(cwd(), 'link.txt')),
        read('/etc/passwd'),
        bash('echo ran > shelled.txt; echo RAN'),
        write(path.join(cwd(), 'written.txt')),
      ],
      { toolPolicy: 'read', attachments: [{ path: attached }], filesDir },
    );
    const found = all.slice(0, finding.length).map(({ output }) => output.match(/inside\.txt|attached\.txt|INSIDE|link\.txt/g));
    expect(found).toEqual([['inside.txt'], ['attached.txt'], ['inside.txt', 'INSIDE']]);
    const results = all.slice(finding.length);
    expect(results.map((event) => event.ok)).toEqual([true, true, false, false, false, false, false]);
    expect(results[0]?.output).toContain('INSIDE');
    expect(results[1]?.output).toContain('ATTACHED');
    expect(JSON.stringify(all)).not.toContain('OUTSIDE-SECRET');
    expect(bench.made(['shelled.txt', 'written.txt'])).toEqual([]);
  });

  test("notes of a folder need full rights, its programs also trust; prompts mention no terminal, and a guest's are short", async () => {
    mkdirSync(path.join(cwd(), '.claude'));
    const hooks = { UserPromptSubmit: [{ hooks: [{ type: 'command', command: `touch ${path.join(cwd(), 'hooked.txt')}` }] }] };
    writeFileSync(path.join(cwd(), '.claude/settings.json'), JSON.stringify({ hooks }));
    const mcpServers = { evil: { command: 'touch', args: [path.join(cwd(), 'served.txt')] } };
    writeFileSync(path.join(cwd(), '.mcp.json'), JSON.stringify({ mcpServers }));
    writeFileSync(path.join(cwd(), 'CLAUDE.md'), 'FOLDER-CONTEXT');
    for (const toolPolicy of ['none', 'read', 'full'] as const) {
      await turn([], { toolPolicy, system: 'You are PERSONA.' });
      const [request] = model.requests;
      const sent = JSON.stringify(request?.body);
      expect(sent.includes('FOLDER-CONTEXT')).toBe(toolPolicy === 'full');
      expect(bench.made(['hooked.txt', 'served.txt'])).toEqual([]);
      expect(request?.systemText).toContain('You are PERSONA.');
      expect(request?.systemText).not.toMatch(/terminal|command line|\/help|CLI\b/i);
      if (toolPolicy === 'none') expect(sent.length).toBeLessThan(2048);
    }
    await turn([], { toolPolicy: 'full', trustedFolder: true });
    expect(JSON.stringify(model.requests[0]?.body)).toContain('FOLDER-CONTEXT');
    expect(bench.made(['hooked.txt', 'served.txt'])).toEqual(['hooked.txt', 'served.txt']);
  });

  test("the owner's own context and settings apply only with full rights", async () => {
    const config = path.join(stateDir, 'config');
    mkdirSync(config, { recursive: true });
    writeFileSync(path.join(config, 'CLAUDE.md'), 'OWNER-CONTEXT');
    writeFileSync(path.join(config, 'settings.json'), JSON.stringify({ permissions: { allow: [`Read(/${outside})`] } }));
    const owner = await turn([read(outside)], { toolPolicy: 'full' });
    expect(owner.results.map((result) => result.output).join('\n')).toContain('OUTSIDE-SECRET');
    expect(JSON.stringify(model.requests[0]?.body)).toContain('OWNER-CONTEXT');
    for (const toolPolicy of ['read', 'none'] as const) {
      const { results } = await turn([read(outside)], { toolPolicy });
      expect(JSON.stringify(results)).not.toContain('OUTSIDE-SECRET');
      expect(JSON.stringify(model.requests[0]?.body)).not.toContain('OWNER-CONTEXT');
    }
  });

  test('asks before everything that does more than read, also for an agent, whatever the owner has allowed', async () => {
    const config = path.join(stateDir, 'config');
    mkdirSync(config, { recursive: true });
    const allow = ['Bash', 'Write', 'Agent', 'WebFetch', 'mcp__wild', 'mcp__wild__echo'];
    writeFileSync(path.join(config, 'settings.json'), JSON.stringify({ permissions: { allow } }));
    const colour = (label: string) => ({ label, description: `as ${label}` });
    const questions = [{ question: 'Which?', header: 'Colour', multiSelect: false, options: [colour('Red'), colour('Blue')] }];
    const asked: string[] = [];
    const { results, seen } = await bench.ask(
      [
        { steps: [bash('ls > no-1.txt')] },
        { steps: [bash('ls > yes.txt')] },
        { steps: [{ tool: 'Agent', input: { description: 'x', prompt: 'do it', subagent_type: 'general-purpose' } }] },
        { steps: [bash('ls > no-2.txt')] },
        { steps: [{ text: 'the agent is done' }] },
        { steps: [read(path.join(cwd(), 'inside.txt'))] },
        { steps: ['wild', 'calm'].map((name) => ({ tool: `mcp__${name}__echo`, input: { text: name } })) },
        { steps: [{ tool: 'AskUserQuestion', input: { questions } }] },
        { steps: [{ text: 'finished' }] },
      ],
      {
        toolPolicy: 'full',
        asks: 'dangerous',
        ask: async ({ text, options }) => {
          asked.push(text.split('\n').at(-1) ?? '');
          return { option: (/no-/.test(text) ? options.at(-1) : options[0])?.id ?? '', outcome: 'answered' };
        },
      },
    );
    expect(asked).toEqual(['ls > no-1.txt', 'ls > yes.txt', 'ls > no-2.txt', '}', 'Blue: as Blue']);
    expect(bench.made(['no-1.txt', 'yes.txt', 'no-2.txt'])).toEqual(['yes.txt']);
    expect(results[0]).toMatchObject({ ok: false, output: expect.stringContaining('said no') as string });
    expect(seen).toMatch(/INSIDE[\s\S]*"Which\?"="Red"/);
    expect(bench.tools.calls).toEqual([{ text: 'wild' }, { text: 'calm' }]);
  });
});
