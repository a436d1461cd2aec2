import fc from 'fast-check';
import { expect, test } from 'vitest';
import { forbiddenTools, offeredTools } from './offered-tools.ts';

test('offeredTools() finds a tool wherever a request offers it', () => {
  const body = {
    tools: [
      { type: 'function', name: 'a' },
      { type: 'namespace', name: 'n', tools: [{ type: 'custom', name: 'b' }] },
      { type: 'web_search' },
    ],
    input: [
      { type: 'message', tools: [{ type: 'function', name: 'no' }] },
      { type: 'additional_tools', tools: [{ type: 'namespace', name: 'm', tools: [{ name: 'c' }] }] },
    ],
  };
  expect(offeredTools(body)).toEqual(['a', 'b', 'web_search', 'c']);
});

test('forbids all tools for "none", all but reading ones for "read", and agents for every policy', () => {
  const offered = ['exec_command', 'write_stdin', 'view_image', 'apply_patch', 'spawn_agent', 'exec'];
  expect(forbiddenTools('none', offered)).toEqual(offered);
  expect(forbiddenTools('read', offered)).toEqual(['apply_patch', 'spawn_agent', 'exec']);
  expect(forbiddenTools('full', offered)).toEqual(['spawn_agent']);
});

test('does not throw on any request, and forbids everything it offers for "none"', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.array(fc.string(), { minLength: 1 }), (other, names) => {
      expect(() => offeredTools(other)).not.toThrow();
      const body = { input: other, tools: names.map((name) => ({ type: 'function', name })) };
      expect(forbiddenTools('none', offeredTools(body)).length).toBeGreaterThanOrEqual(names.length);
    }),
  );
});
