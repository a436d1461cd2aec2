import type { Command } from 'commander';
import { cutText } from '@svc/service-kit/cut-text.ts';

/** Words of other programs, with the name used here. */
const otherWords: Readonly<Record<string, readonly string[]>> = {
  add: ['create', 'install', 'new', 'put', 'register'],
  chat: ['ask', 'msg', 'say', 'talk', 'message'],
  config: ['configure', 'edit', 'set'],
  connector: ['bot', 'channel', 'integration'],
  doctor: ['diagnose', 'health'],
  engine: ['llm', 'login', 'model', 'provider'],
  enable: ['allow', 'unblock'],
  disable: ['block', 'deny'],
  list: ['all', 'ls', 'show', 'status'],
  person: ['people', 'principal', 'user'],
  put: ['add', 'set', 'store'],
  remove: ['del', 'delete', 'rm', 'uninstall'],
  session: ['conversation', 'history', 'thread'],
  show: ['describe', 'get', 'info', 'view'],
  status: ['ps', 'show'],
  terminal: ['tmux'],
  tool: ['mcp', 'plugin'],
  up: ['run', 'serve', 'start'],
  vault: ['secret'],
};

/**
 * Converts "help" in place of a command to `--help`: `help vault`, `vault help`,
 * `vault help put`. Anything else is unchanged.
 */
export function withoutHelpWord(program: Command, args: readonly string[]): readonly string[] {
  let command = program;
  for (const [at, word] of args.entries()) {
    if (command.commands.length === 0) return args;
    if (word === 'help') return [...args.slice(0, at), ...args.slice(at + 1).filter((each) => each !== 'help'), '--help'];
    const found = command.commands.find((each) => each.name() === word);
    if (found === undefined) return args;
    command = found;
  }
  return args;
}

/** Refuses an unknown command and names the nearest one. A noun would otherwise ignore the word and list. */
export function refuseUnknownCommand(program: Command, args: readonly string[]): void {
  let command: Command = program;
  for (const word of args) {
    if (command.commands.length === 0 || word.startsWith('-')) return;
    const found = command.commands.find((each) => each.name() === word);
    if (found === undefined) {
      const near = nearest(
        word,
        command.commands.map((each) => each.name()),
      );
      const path = pathOf(command);
      const hint = near === null ? '' : ` Did you mean "${path} ${near}"?`;
      command.error(`error: there is no command "${path} ${cutText(word, 60)}".${hint}`, {
        code: 'commander.unknownCommand',
        exitCode: 2,
      });
    }
    command = found;
  }
}

/** The full name of a command, with the program. */
export const pathOf = (command: Command): string =>
  command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;

/** The name that was most likely meant; null when none is similar. */
export function nearest(word: string, names: readonly string[]): string | null {
  const typed = word.toLowerCase().slice(0, 40);
  const known = names.find((name) => otherWords[name]?.some((other) => isSlipOf(typed, other)));
  const [best] = names.map((name) => ({ name, distance: distanceOf(typed, name) })).toSorted((a, b) => a.distance - b.distance);
  const isLike = best !== undefined && best.distance <= Math.max(1, Math.floor(best.name.length * 0.4));
  return (isLike && best.distance <= 1 ? best.name : known) ?? (isLike ? best.name : null);
}

/** Short words are too similar to each other to guess. */
const isSlipOf = (typed: string, word: string): boolean => typed === word || (word.length > 3 && distanceOf(typed, word) <= 1);

/** The number of letters to insert, delete, replace or swap with the next one to get from one word to the other. */
function distanceOf(a: string, b: string): number {
  const rows = Array.from({ length: a.length + 1 }, (_, i) => [i, ...Array.from({ length: b.length }, () => 0)]);
  const at = (i: number, j: number): number => rows[i]?.[j] ?? 0;
  rows[0] = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const changed = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const row = rows[i] as number[];
      row[j] = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, changed, isSwap ? at(i - 2, j - 2) + 1 : Infinity);
    }
  }
  return at(a.length, b.length);
}
