import type { Argument, Command } from 'commander';
import { engineNames } from '@svc/service-kit/config/engine-traits.ts';
import { hostNames } from '../service-urls.ts';

/** What can follow at a position: known words, the names of instances, or files. */
export type Word = { text: string; help: string };
export type Place = {
  /** The path of commands before it, joined by blanks; empty at the top. */
  path: string;
  words: Word[];
  options: Word[];
  takes: 'instances' | 'files' | null;
};

/** Every position of the command line that can be completed, from the command tree. */
export function completionPlaces(program: Command): Place[] {
  return placesBelow(program, []);
}

function placesBelow(command: Command, path: readonly string[]): Place[] {
  const here = {
    path: path.join(' '),
    words: wordsOf(command, path),
    options: optionsOf(command),
    takes: takenBy(command, path),
  };
  return [here, ...command.commands.flatMap((each) => placesBelow(each, [...path, each.name()]))];
}

const wordsOf = (command: Command, path: readonly string[]): Word[] => [
  ...command.commands.map((each) => ({ text: each.name(), help: each.description() })),
  ...namesFor(command, path),
];

const optionsOf = (command: Command): Word[] => [
  ...command.options.flatMap(({ long, description }) => (long == null ? [] : [{ text: long, help: description }])),
  { text: '--help', help: 'show this help' },
];

/** Names that do not change while the service runs. */
function namesFor(command: Command, path: readonly string[]): Word[] {
  const first = command.registeredArguments[0];
  if (path[0] === 'engine' && first?.name() === 'id') return engineNames.map((text) => ({ text, help: 'engine' }));
  if (path[0] === 'logs') return hostNames.map((text) => ({ text, help: 'process' }));
  return (first?.argChoices ?? []).map((text) => ({ text, help: '' }));
}

const instanceVerbs = new Set(['config', 'logs', 'start', 'stop', 'restart', 'remove']);

function takenBy(command: Command, path: readonly string[]): Place['takes'] {
  const names = command.registeredArguments.map((argument: Argument) => argument.name());
  if (path[0] === 'connector' && instanceVerbs.has(path[1] ?? '')) return 'instances';
  if (path[0] === 'send') return 'instances';
  return names.some((name) => /^(file|folder|dir|path)s?$/.test(name)) ? 'files' : null;
}
