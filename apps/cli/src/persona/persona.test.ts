import { expect, test } from 'vitest';
import { plain } from '../terminal.ts';
import { personaTiers } from '@svc/contract/persona.ts';
import { tierParser } from '../tier-words.ts';
import { renderEnginePersona } from '../commands/persona.ts';

test.each([
  ['owner', 'SACRED'],
  ['Known', 'KNOWN'],
  ['GUEST', 'GUEST'],
  ['sacred', 'SACRED'],
])('%s is parsed as the tier %s', (text, tier) => expect(tierParser(personaTiers)(text)).toBe(tier));

test.each(['', 'blocked', 'UNKNOWN', 'gast'])('rejects "%s" as a tier for a persona', (text) => {
  expect(() => tierParser(personaTiers)(text)).toThrow('owner, trusted, known or guest');
});

const view = {
  engine: 'codex',
  tier: 'KNOWN',
  tool_policy: 'read',
  text: 'You are Jarvis.',
  bytes: 15,
  source: 'built-in',
} as const;

test('the persona of an engine is shown with its size and what the program of the engine adds', () => {
  expect(renderEnginePersona({ ...view, added: ['The date.'] }, plain)).toBe(
    'codex in a turn of known, with tools that read (15 bytes):\n\nYou are Jarvis.\n\nIts program adds:\n- The date.',
  );
  expect(renderEnginePersona({ ...view, added: [] }, plain)).toContain('adds nothing');
});
