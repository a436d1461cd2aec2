import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { openPolicyBench, testEnginePolicy } from '@svc/engine-kit/testing/engine-policy.ts';
import type { ScriptedStep } from '@svc/testing/model-server/scripted-reply.ts';
import { describeWithEngine } from '@svc/testing/model-server/test-engines.ts';
import { createEngine } from '../src/engine.ts';

const shell = (cmd: string): ScriptedStep => ({ tool: 'exec_command', input: { cmd } });
const patch: ScriptedStep = {
  tool: { name: 'apply_patch', kind: 'custom' },
  input: { input: '*** Begin Patch\n*** Add File: patched.txt\n+hi\n*** End Patch' },
};
const code: ScriptedStep = {
  tool: { name: 'exec', namespace: 'functions', kind: 'custom' },
  input: {
    input:
      "await tools.exec_command({ cmd: 'touch coded.txt' }); await tools.apply_patch('*** Begin Patch\\n*** Add File: coded.txt\\n+hi\\n*** End Patch')",
  },
};

describeWithEngine('codex', 'tool policy of codex', async (install) => {
  const bench = await openPolicyBench({ id: 'codex', createEngine, install }, { model: 'scripted-model' });
  const { turn, outside, cwd } = bench;

  testEnginePolicy(bench, {
    // The vendor's models get other tools than unknown ones: a free-text patch tool, or code that calls tools.
    guestModels: ['scripted-model', 'gpt-5.5', 'gpt-6.1-sol'],
    ownerModel: 'gpt-5.5',
    shell,
    write: { order: () => patch, file: 'patched.txt', tool: 'edit_files', shellTool: 'shell' },
    tricks: { orders: () => [code], files: ['coded.txt'] },
    serverTool: (server) => `mcp__${server}__echo`,
  });

  test('policy read allows reading its own folder only, and no changes', async () => {
    const { seen } = await turn([shell(`cat inside.txt; cat ${outside}; echo ran > shelled.txt`), patch], {
      toolPolicy: 'read',
      model: 'gpt-5.5',
    });
    expect(seen).toContain('INSIDE');
    expect(seen).not.toContain('OUTSIDE-SECRET');
    expect(bench.made(['shelled.txt', 'patched.txt', 'coded.txt'])).toEqual([]);
  });

  test('hides the token for the model from commands', async () => {
    const { seen } = await turn([shell('env > env.txt; cat env.txt; cat /proc/$PPID/environ | tr "\\0" "\\n"')], {
      toolPolicy: 'full',
    });
    expect(seen).toContain('PATH=');
    expect(readFileSync(path.join(cwd(), 'env.txt'), 'utf8')).not.toMatch(/TOKEN|KEY/);
    expect(seen).not.toMatch(/TOKEN=|KEY=/);
  });

  test('asks before everything that does more than read, and does not do what is denied', async () => {
    const escalated = (cmd: string): ScriptedStep => ({
      tool: 'exec_command',
      input: { cmd, sandbox_permissions: 'require_escalated', justification: 'x' },
    });
    const adding = (file: string): ScriptedStep => ({
      tool: { name: 'apply_patch', kind: 'custom' },
      input: { input: `*** Begin Patch\n*** Add File: ${file}\n+hi\n*** End Patch` },
    });
    const asked: string[] = [];
    const { seen } = await turn(
      [
        shell('cat inside.txt; ls > sandboxed.txt'),
        escalated('touch yes.txt'),
        escalated('touch no.txt'),
        adding('yes-patch.txt'),
        adding('no-patch.txt'),
        { tool: 'mcp__wild__echo', input: { text: 'no' } },
        { tool: 'mcp__wild__echo', input: { text: 'yes' } },
        { tool: 'mcp__calm__echo', input: { text: 'calm' } },
      ],
      {
        toolPolicy: 'full',
        model: 'gpt-5.5',
        asks: 'dangerous',
        ask: async ({ text }) => {
          asked.push(text);
          return { option: text.includes('yes') ? 'yes' : 'no', outcome: 'answered' };
        },
      },
    );
    expect(asked.map((text) => /\b(yes|no)\b(-patch)?/.exec(text)?.[0])).toEqual([
      'yes',
      'no',
      'yes-patch',
      'no-patch',
      'no',
      'yes',
    ]);
    expect(asked[0]).toMatch(/^May the assistant run this command\?\n\n.*touch yes\.txt/);
    expect(asked[2]).toMatch(/yes-patch\.txt\nhi/);
    expect(bench.made(['sandboxed.txt', 'yes.txt', 'no.txt', 'yes-patch.txt', 'no-patch.txt'])).toEqual([
      'yes.txt',
      'yes-patch.txt',
    ]);
    expect(seen).toContain('INSIDE');
    expect(bench.tools.calls).toEqual([{ text: 'yes' }, { text: 'calm' }]);
  });
});
