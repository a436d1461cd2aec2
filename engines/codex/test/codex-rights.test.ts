import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { Tier } from '@svc/contract/trust.ts';
import { collectTurn, ofType } from '@svc/engine-kit/testing/collect-turn.ts';
import { hello, openEngineBench } from '@svc/engine-kit/testing/engine-bench.ts';
import { engineRequest } from '@svc/engine-kit/testing/engine-request.ts';
import type { ModelRequest } from '@svc/testing/model-server/model-request.ts';
import type { ScriptedStep } from '@svc/testing/model-server/scripted-reply.ts';
import { describeWithEngine } from '@svc/testing/model-server/test-engines.ts';
import { createEngine } from '../src/engine.ts';
import { acceptCodex } from '../src/find-codex.ts';
import { parseModels } from '../src/model-catalog.ts';
import { forbiddenTools, offeredTools } from '../src/offered-tools.ts';

/** All models that the installed program knows, by the vendor's names. */
function vendorModels(install: string): string[] {
  const codex = acceptCodex(install);
  if (typeof codex === 'string') throw new Error(codex);
  const list = execFileSync(codex.program, ['debug', 'models'], { stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 1e8 });
  return parseModels(list.toString()).map((model) => String(model.slug));
}

/** Attempts of a model to exceed the rights of its turn, offered or not. */
const escapes: ScriptedStep[] = [
  { tool: { name: 'exec', kind: 'custom' }, input: { input: 'while (true) {}' } },
  {
    tool: { name: 'exec', namespace: 'functions', kind: 'custom' },
    input: { input: 'await tools.exec_command({ cmd: "touch coded" })' },
  },
  {
    tool: { name: 'spawn_agent', namespace: 'collaboration', kind: 'function' },
    input: { task_name: 'a', message: 'go', prompt: 'go' },
  },
  { tool: 'spawn_agent', input: { message: 'go' } },
  { tool: 'read_mcp_resource', input: { server: 'x', uri: 'file:///etc/passwd' } },
  { tool: 'send_user_message_async', input: { message: 'hi' } },
  { tool: 'update_plan', input: { plan: [] } },
];
const writing: ScriptedStep[] = [
  {
    tool: { name: 'apply_patch', kind: 'custom' },
    input: { input: '*** Begin Patch\n*** Add File: patched\n+hi\n*** End Patch' },
  },
  {
    tool: { name: 'apply_patch', namespace: 'functions', kind: 'custom' },
    input: { input: '*** Begin Patch\n*** Add File: patched\n+hi\n*** End Patch' },
  },
];
const running: ScriptedStep = { tool: 'exec_command', input: { cmd: 'touch shelled; cat /etc/hostname' } };

const sizeOf = (request: ModelRequest | undefined) =>
  ['instructions', 'tools', 'input'].reduce((sum, name) => sum + JSON.stringify(request?.body[name] ?? '').length, 0);

describeWithEngine('codex', "tool policy of codex with the vendor's own models", async (install) => {
  const { model, start, dir } = await openEngineBench({ id: 'codex', createEngine, install }, { sharesState: true });
  const models = vendorModels(install);
  /** All tool calls come in one reply, and each is decided separately. */
  const script = (steps: readonly ScriptedStep[]) => {
    model.requests.length = 0;
    model.script(steps.length > 0 ? [{ steps }, hello] : [hello]);
  };

  test('the program knows more than five models', () => expect(models.length).toBeGreaterThan(5));

  test.each([
    ['talk offers no tool at all', 'none', [...escapes, ...writing, running]],
    ['reading offers only what reads', 'read', [...escapes, ...writing]],
    ['full rights offer no other agents', 'full', escapes],
  ] as const)('%s, with any model, and other calls have no effect', async (_, toolPolicy, steps) => {
    const { engine, request } = start();
    for (const id of models) {
      script(steps);
      const turn = await collectTurn(engine, engineRequest({ prompt: 'hi', ...request, model: id, toolPolicy }));
      expect(turn.last, JSON.stringify(turn.events)).toEqual({ type: 'done' });
      expect(model.requests, id).toHaveLength(2);
      expect(model.requests[1]?.toolResults, id).toHaveLength(steps.length);
      for (const { body } of model.requests) expect(forbiddenTools(toolPolicy, offeredTools(body)), id).toEqual([]);
      expect(ofType(turn.events, 'tool_result').filter(({ ok }) => ok)).toEqual([]);
      for (const name of ['coded', 'patched', 'shelled']) expect(existsSync(path.join(request.cwd, name))).toBe(false);
      if (toolPolicy === 'none') expect(sizeOf(model.requests[0])).toBeLessThan(1024);
    }
  });

  test("a guest's turn takes at most 6 KB including instructions, a title 2 KB", async () => {
    const { engine, request } = start();
    const guest = { prompt: 'x'.repeat(500), ...request, model: 'gpt-6.1-sol', toolPolicy: 'none' } as const;
    script([]);
    await collectTurn(engine, engineRequest({ ...guest, system: 'p'.repeat(2500) }));
    expect(sizeOf(model.requests[0])).toBeLessThan(6 * 1024);
    script([]);
    await collectTurn(engine, engineRequest({ ...guest, purpose: 'title', system: 'You name conversations.' }));
    expect(sizeOf(model.requests[0])).toBeLessThan(2 * 1024);
  });

  /** A home folder of the owner with instructions, and a skill in each place. */
  const ownerHome = () => {
    const home = mkdtempSync(path.join(dir, 'home-'));
    const addSkill = (folder: string, name: string) => {
      mkdirSync(path.join(home, folder, name), { recursive: true });
      writeFileSync(
        path.join(home, folder, name, 'SKILL.md'),
        `---\nname: ${name}\ndescription: PRIVATE about ${name}\n---\nSECRET-STEPS of ${name}`,
      );
    };
    addSkill('.agents/skills', 'tax');
    addSkill('.codex/skills', 'trade');
    writeFileSync(path.join(home, '.codex/AGENTS.md'), 'PRIVATE rules of the owner');
    return home;
  };

  test.each([
    ['GUEST', 'none'],
    ['KNOWN', 'read'],
    ['TRUSTED', 'full'],
    ['SACRED', 'none'],
    ['SACRED', 'read'],
  ] as const)("%s with policy %s cannot see the owner's skills and instructions, not even by name", async (tier, toolPolicy) => {
    const { engine, request, stateDir } = start({ env: { PATH: process.env.PATH, HOME: ownerHome() } });
    const prompt = 'use $tax, $trade and [$tax](skill://tax), $skill-creator';
    for (const id of ['gpt-5.5', 'gpt-6-astra']) {
      script([]);
      await collectTurn(engine, turnOf({ prompt, ...request, model: id, toolPolicy }, tier));
      const sent = JSON.stringify(model.requests.map(({ body }) => body));
      expect(sent).toContain('use $tax');
      expect(sent).not.toMatch(/PRIVATE|SECRET-STEPS|<skill/);
    }
    expect(existsSync(path.join(stateDir, 'home/skills/.system'))).toBe(false);
  });

  test("hides skills and notes of the conversation's folder from a guest", async () => {
    const { engine, request } = start();
    mkdirSync(path.join(request.cwd, '.agents/skills/local'), { recursive: true });
    writeFileSync(
      path.join(request.cwd, '.agents/skills/local/SKILL.md'),
      '---\nname: local\ndescription: PRIVATE\n---\nSECRET-STEPS',
    );
    writeFileSync(path.join(request.cwd, 'AGENTS.md'), 'PRIVATE rules');
    script([]);
    await collectTurn(engine, engineRequest({ prompt: 'use $local', ...request, toolPolicy: 'none' }));
    expect(JSON.stringify(model.requests[0]?.body)).not.toMatch(/PRIVATE|SECRET-STEPS/);
  });

  test('the owner with full rights gets their instructions and skills, a guest in the same conversation does not', async () => {
    const { engine, request } = start({ env: { PATH: process.env.PATH, HOME: ownerHome() } });
    script([]);
    const fields = { prompt: 'hi', ...request, model: 'gpt-6-astra' };
    const first = await collectTurn(engine, turnOf({ ...fields, toolPolicy: 'full' }, 'SACRED'));
    const sent = model.requests[0]?.systemText ?? '';
    expect(sent).toContain('PRIVATE rules of the owner');
    expect(sent).toMatch(/tax: PRIVATE about tax \(.*\.agents\/skills\/tax\/SKILL\.md\)/);
    expect(sent).toContain('trade: PRIVATE about trade');
    script([]);
    const second = await collectTurn(engine, turnOf({ ...fields, toolPolicy: 'none', resume: first.sessionId }, 'GUEST'));
    expect(second.sessionId).toBe(first.sessionId);
    expect(JSON.stringify(model.requests[0]?.body)).not.toContain('PRIVATE');
  });

  test("a change of model leaves none of the owner's instructions in a guest's turn of the conversation", async () => {
    const { engine, request } = start({ env: { PATH: process.env.PATH, HOME: ownerHome() } });
    let resume: string | null = null;
    const turn = async (tier: Tier, id: string) => {
      script([]);
      const fields = {
        ...request,
        prompt: `words of ${tier}`,
        model: id,
        toolPolicy: tier === 'SACRED' ? 'full' : 'none',
        resume,
      } as const;
      resume = (await collectTurn(engine, turnOf(fields, tier))).sessionId;
      return JSON.stringify(model.requests[0]?.body);
    };
    expect(await turn('SACRED', 'gpt-5.5')).toContain('PRIVATE rules of the owner');
    await turn('SACRED', 'gpt-6-astra');
    expect(await turn('GUEST', 'gpt-6-astra')).not.toContain('PRIVATE');
    expect(await turn('SACRED', 'gpt-6-astra')).toContain('PRIVATE rules of the owner');
    expect(await turn('GUEST', 'gpt-5.5')).not.toContain('PRIVATE');
    expect(await turn('SACRED', 'gpt-5.5')).toContain('PRIVATE rules of the owner');
    expect(await turn('SACRED', 'gpt-5.5')).toContain('PRIVATE rules of the owner');
    expect(await turn('GUEST', 'gpt-6-astra')).not.toContain('PRIVATE');
  });

  test('settings of a repository start programs only in a folder that the operator trusts', async () => {
    const { engine, request } = start();
    mkdirSync(path.join(request.cwd, '.git'));
    mkdirSync(path.join(request.cwd, '.codex'));
    const started = path.join(request.cwd, 'started');
    writeFileSync(
      path.join(request.cwd, '.codex/config.toml'),
      `[mcp_servers.repo]\ncommand = "/bin/sh"\nargs = ["-c", "touch ${started}"]\n`,
    );
    for (const trustedFolder of [false, false, true]) {
      script([]);
      await collectTurn(engine, engineRequest({ prompt: 'hi', ...request, toolPolicy: 'full', trustedFolder }));
      expect(existsSync(started)).toBe(trustedFolder);
    }
  });

  test("commands of the owner's turn use the owner's home folder", async () => {
    const home = ownerHome();
    const { engine, request } = start({ env: { PATH: process.env.PATH, HOME: home } });
    script([{ tool: 'exec_command', input: { cmd: 'echo home=$HOME' } }]);
    await collectTurn(engine, turnOf({ prompt: 'hi', ...request, toolPolicy: 'full' }, 'SACRED'));
    expect(model.requests[1]?.toolResults.join('\n')).toContain(`home=${home}`);
  });
});

const turnOf = (fields: Parameters<typeof engineRequest>[0], tier: Tier) => {
  const request = engineRequest(fields);
  return { ...request, facts: { ...request.facts, tier } };
};
