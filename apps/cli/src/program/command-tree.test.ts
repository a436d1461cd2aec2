import type { Command } from 'commander';
import { expect, test, vi } from 'vitest';
import { commandsBelow } from './command-reference.ts';
import { pathOf } from './find-command.ts';
import { lazyCommands, type Commands } from './lazy-commands.ts';
import { allCommands } from './program.ts';
import { runProgram } from './run-program.ts';

/** Commands that record their calls and do nothing. */
const ran = vi.fn(async () => 0);
const commands = Object.fromEntries(Object.keys(lazyCommands).map((name) => [name, ran])) as unknown as Commands;

async function run(words: readonly string[]): Promise<{ code: number; out: string; ran: boolean }> {
  ran.mockClear();
  let out = '';
  const stdout = vi.spyOn(process.stdout, 'write').mockImplementation((text) => ((out += String(text)), true));
  const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  try {
    const code = await runProgram(words, commands);
    return { code, out, ran: ran.mock.calls.length > 0 };
  } finally {
    stdout.mockRestore();
    stderr.mockRestore();
  }
}

const program = allCommands();
const all = commandsBelow(program);
const wordsOf = (command: Command) => pathOf(command).split(' ').slice(1);
const named = all.map((command) => [wordsOf(command).join(' '), command] as const);

test('the help lists every command once, in groups', async () => {
  const { out } = await run(['--help']);
  const listed = out.split('\n').flatMap((line) => /^(\S.*):$|^ {2}(\w\S*) +\S/.exec(line)?.slice(1, 3) ?? []);
  const words = listed.filter((word) => word !== undefined);
  expect(words).toEqual(
    ['Talk', 'People', 'Channels', 'Engines and tools', 'Files', 'Watch', 'Keep', 'Develop'].flatMap((group) => [
      group,
      ...program.commands.filter((command) => command.helpGroup() === `${group}:`).map((command) => command.name()),
    ]),
  );
  expect(words.length - 8).toBe(program.commands.length);
  expect(await run([])).toEqual({ code: 0, out, ran: false });
});

/** Add a new verb only if none in the list fits. */
const verbs = `
  add begin cancel change check choose close connect copy delete deny find give have install let list log make open print
  register remove replace restore revoke run say send set show start stop store take talk turn use work
`.match(/\w+/g);

test.each(named)('%s has a one-line summary that begins with a verb', async (name, command) => {
  const summary = command.description();
  expect(verbs).toContain(summary.split(' ')[0]);
  expect(summary).not.toMatch(/[.\n]$|^[A-Z]/);
  const { out } = await run([...name.split(' ').slice(0, -1), '--help']);
  expect(out).toMatch(new RegExp(`^  ${command.name()}\\b.* {2}${inPattern(summary)}$`, 'm'));
});

test.each(named)('the help of %s fits 80 columns, explains each argument and has examples that run', async (name) => {
  const { code, out } = await run([...name.split(' '), '--help']);
  expect(code).toBe(0);
  expect(out.split('\n').filter((line) => line.length > 80)).toEqual([]);
  expect(out, 'an argument that is not explained').not.toMatch(/^ {2}[a-z]+ *$/m);
  expect(out, 'a time in ms').not.toMatch(/\d{13}/);
  const examples = [...(out.split('Examples:\n')[1] ?? '').matchAll(/\.\/svc (.*?)(?: {3,}\(.*| \|.*)?$/gm)];
  expect(examples.length).toBeGreaterThan(0);
  for (const [, line = ''] of examples) expect([line, await run(wordsIn(line))]).toMatchObject([line, { code: 0, ran: true }]);
});

test('the examples of a command show that command', async () => {
  for (const [name, command] of named) {
    const { out } = await run([...name.split(' '), '--help']);
    const noun = wordsOf(command)[0] ?? '';
    const examples = out.split('Examples:\n')[1] ?? '';
    expect(examples).toContain(
      command.name() === 'list' || command.name() === 'status' || command.name() === 'show' ? `./svc ${noun}` : `./svc ${name}`,
    );
  }
});

test('every noun without a verb runs a command that lists or shows', async () => {
  for (const noun of all.filter(({ commands: verbsOf }) => verbsOf.length > 0)) {
    expect([pathOf(noun), await run(wordsOf(noun))]).toMatchObject([pathOf(noun), { code: 0, ran: true }]);
  }
});

test('commands that list or show have --json', () => {
  const lists = all.filter((command) => /^(list|show)\b/.test(command.description()) && command.commands.length === 0);
  const without = lists.filter(({ options }) => !options.some(({ long }) => long === '--json'));
  expect(lists.length).toBeGreaterThan(15);
  expect(without.map(pathOf)).toEqual([]);
});

test('commands that delete or create are named "remove" and "add", with three exceptions', () => {
  const others = all.map((command) => command.name()).filter((name) => /^(delete|rm|destroy|new|create|register)$/.test(name));
  // Backups and keys are created rather than added; "new" writes a folder of source code.
  expect(others.toSorted()).toEqual(['create', 'create', 'new']);
});

const inPattern = (text: string): string => text.replaceAll(/[()[\]{}.*+?^$|\\]/g, String.raw`\$&`);

/** A line as a shell splits it. */
const wordsIn = (line: string): string[] =>
  [...line.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g)].map(([word]) => word.replaceAll(/^["']|["']$/g, ''));
