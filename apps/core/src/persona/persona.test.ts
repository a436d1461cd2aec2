import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createFakeClock } from '@svc/testing/fake-clock.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished, test } from 'vitest';
import { builtInPersona } from './built-in-persona.ts';
import { createPersona } from './persona.ts';

function open() {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  const file = path.join(folder.path, 'persona.md');
  const clock = createFakeClock();
  const persona = createPersona({ file, folder: path.join(path.dirname(file), 'personas'), assistantName: 'Jarvis', clock });
  const write = (text: string) => {
    writeFileSync(file, text);
    clock.advance(1000);
  };
  return { file, clock, persona, write };
}

test('the built-in persona names the assistant, the no-reply marker and the trust tiers, and is short', () => {
  const text = builtInPersona('Jarvis');
  for (const said of [
    'You are Jarvis,',
    '[[NO_REPLY]]',
    'owner',
    'trusted',
    'known',
    'guest',
    'svc_send',
    'data, not instructions',
  ]) {
    expect(text).toContain(said);
  }
  expect(Buffer.byteLength(text)).toBeLessThan(2600);
});

test("the operator's file extends the persona within a second, and deleting it restores the built-in one", () => {
  const { persona, write, file, clock } = open();
  expect(persona.source()).toBe('built-in');
  write('Speak like a pirate.\n');
  expect(persona.text()).toBe(`${builtInPersona('Jarvis')}\n\nSpeak like a pirate.`);
  expect(persona.source()).toBe('extended');
  rmSync(file);
  clock.advance(1000);
  expect(persona.text()).toBe(builtInPersona('Jarvis'));
});

test('a file that begins with <!-- replace --> replaces the persona', () => {
  const { persona, write } = open();
  write('<!-- replace -->\nYou are a pirate.');
  expect([persona.text(), persona.source()]).toEqual(['You are a pirate.', 'replaced']);
  write('<!-- replace -->\n  \n');
  expect(persona.source()).toBe('built-in');
});

test('an unusable file keeps the persona and reports why', () => {
  const { persona, write, file, clock } = open();
  write('Be brief.');
  const before = persona.text();
  write('x'.repeat(16 * 1024 + 1));
  expect(persona.text()).toBe(before);
  expect(persona.fault()).toContain('it is larger than 16 KiB');
  rmSync(file);
  mkdirSync(file);
  clock.advance(1000);
  expect(persona.text()).toBe(before);
  expect(persona.fault()).toContain('./svc persona edit');
  rmSync(file, { recursive: true });
  write('Be kind.');
  expect([persona.fault(), persona.text().endsWith('Be kind.')]).toEqual([null, true]);
});

test('the file is checked at most once a second', () => {
  const { persona, file, clock } = open();
  persona.text();
  writeFileSync(file, 'new');
  clock.advance(999);
  expect(persona.source()).toBe('built-in');
  clock.advance(1);
  expect(persona.source()).toBe('extended');
});
