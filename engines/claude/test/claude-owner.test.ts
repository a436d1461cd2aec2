import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { Tier, ToolPolicy } from '@svc/contract/trust.ts';
import { collectTurn } from '@svc/engine-kit/testing/collect-turn.ts';
import { hello, openEngineBench } from '@svc/engine-kit/testing/engine-bench.ts';
import { engineRequest } from '@svc/engine-kit/testing/engine-request.ts';
import { describeWithEngine } from '@svc/testing/model-server/test-engines.ts';
import { createEngine } from '../src/engine.ts';

const hook = (command: string) => [{ hooks: [{ type: 'command', command }] }];

/** Everything that the owner's folder adds to a conversation. */
const ownerFiles = (cwd: string): Record<string, string> => ({
  'CLAUDE.md': 'PRIVATE-NOTES',
  'rules/a.md': 'PRIVATE-RULES',
  'skills/tax/SKILL.md': '---\nname: tax\ndescription: PRIVATE-SKILL\n---\nPRIVATE-STEPS',
  'agents/foo.md': '---\nname: foo\ndescription: PRIVATE-AGENT\n---\nx',
  'output-styles/x.md': '---\nname: x\ndescription: x\n---\nPRIVATE-STYLE',
  [`projects/${cwd.replaceAll(/[^A-Za-z0-9]/g, '-')}/memory/MEMORY.md`]: 'PRIVATE-MEMORY',
  'settings.json': JSON.stringify({
    outputStyle: 'x',
    hooks: { SessionStart: hook('echo PRIVATE-HOOK'), UserPromptSubmit: hook('echo PRIVATE-PROMPT-HOOK') },
  }),
});

describeWithEngine('claude', "the owner's additions to claude", async (install) => {
  const { model, start } = await openEngineBench({ id: 'claude', createEngine, install });

  test('is omitted from turns of others, whatever their policy, and is back in the owner’s turn', async () => {
    const { engine, request, stateDir } = start();
    for (const [name, text] of Object.entries(ownerFiles(request.cwd))) {
      const file = path.join(stateDir, 'config', name);
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
    let resume: string | null = null;
    const turn = async (prompt: string, toolPolicy: ToolPolicy, who: Tier) => {
      model.requests.length = 0;
      model.script(() => hello);
      const asked = engineRequest({ prompt, ...request, toolPolicy, resume });
      const { sessionId, last } = await collectTurn(engine, { ...asked, facts: { ...asked.facts, tier: who } });
      expect(last).toEqual({ type: 'done' });
      expect(resume ?? sessionId).toBe(sessionId);
      resume = sessionId;
      return JSON.stringify(model.requests[0]?.body);
    };
    const ownTurn = async (words: string) => {
      const own = await turn(words, 'full', 'SACRED');
      for (const added of ['NOTES', 'RULES', 'SKILL', 'AGENT', 'STYLE', 'MEMORY', 'HOOK'])
        expect(own).toContain(`PRIVATE-${added}`);
    };
    for (const [policy, tier] of [
      ['none', 'GUEST'],
      ['read', 'KNOWN'],
      ['full', 'TRUSTED'],
    ] as const) {
      await ownTurn(`WORDS-BEFORE-${tier}`);
      const others = await turn('hi', policy, tier);
      expect(others.match(/PRIVATE-\w+/g) ?? [], tier).toEqual([]);
      expect(others).toContain(`WORDS-BEFORE-${tier}`);
      expect(others).toContain('hello');
    }
    await ownTurn('LAST-WORDS');
  });
});
