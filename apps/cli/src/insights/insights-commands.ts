import { InvalidArgumentError, Option, type Command } from 'commander';
import type { EventsOptions } from '../commands/events.ts';
import type { OtelOptions } from '../commands/otel.ts';
import type { SearchOptions } from '../commands/search.ts';
import type { UsageOptions } from '../commands/usage.ts';
import { defineCommand, defineDefault, wholeNumber } from '../program/define-command.ts';
import type { Run } from '../program/lazy-commands.ts';
import { usageGroups, type UsageBy } from './render-usage.ts';
import { since } from '../program/parse-time.ts';

const time = '30m, 24h, 7d or a date';

export function addUsageCommand(program: Command, run: Run): void {
  defineCommand(program, 'usage', {
    summary: 'show what was used and what it cost',
    examples: ['./svc usage', './svc usage --since 30d --by person', './svc usage --by day --json'],
  })
    .addOption(new Option('--since <time>', time).argParser(fromNow).default(since('7d'), '7d'))
    .addOption(new Option('--by <group>', 'one line for each channel, person or day').argParser(toGroup).default('channel'))
    .option('--json', 'print JSON')
    .action((options: UsageOptions) => run.usage(options));
}

export function addEventsCommand(program: Command, run: Run): void {
  defineCommand(program, 'events', {
    summary: 'show what happened',
    examples: ['./svc events -f', './svc events --channel messenger --since 24h'],
  })
    .option('-f, --follow', 'keep showing new lines')
    .option('-n, --lines <count>', 'how many', wholeNumber(0, 999_999), 50)
    .option('--channel <name>', 'only of this channel')
    .option('--session <key>', 'only of this conversation')
    .option('--sender <name>', 'only of this sender, as the channel names them')
    .option('--since <time>', `only later ones: ${time}`, fromNow)
    .option('--json', 'print one JSON object a line')
    .action(
      ({ channel, sender, ...options }: Omit<EventsOptions, 'surface' | 'identity'> & { channel?: string; sender?: string }) =>
        run.events({ ...options, surface: channel, identity: sender }),
    );
}

export function addSearchCommand(program: Command, run: Run): void {
  defineCommand(program, 'search', {
    summary: 'find conversations by what was said in them',
    examples: ['./svc search train station', `./svc search '"the train" stat*' --since 7d`],
  })
    .argument('<words...>', 'all have to occur; "several words" in a row, begin*')
    .option('--since <time>', `only later ones: ${time}`, fromNow)
    .option('--limit <count>', 'how many conversations', wholeNumber(0, 999_999), 20)
    .option('--json', 'print JSON')
    .action((words: string[], options: SearchOptions) => run.search(words.join(' '), options));
}

export function addOtelCommand(program: Command, run: Run): void {
  const noun = defineCommand(program, 'otel', {
    summary: 'show the export of traces and metrics to OpenTelemetry',
    examples: ['./svc otel', './svc otel install'],
  });
  defineDefault(noun, 'status', { summary: 'show what is exported, and where to', examples: ['./svc otel', './svc otel --json'] })
    .option('--json', 'print JSON')
    .action((options: OtelOptions) => run.otel('status', options));
  defineCommand(noun, 'install', { summary: 'install what the export needs', examples: ['./svc otel install'] })
    .option('--json', 'print JSON')
    .action((options: OtelOptions) => run.otel('install', options));
}

const fromNow = (text: string): number => since(text);

/** "surface" and "identity" are the earlier names. */
function toGroup(text: string): UsageBy {
  const group = text === 'surface' ? 'channel' : text === 'identity' ? 'person' : text;
  const found = usageGroups.find((each) => each === group);
  if (found === undefined) throw new InvalidArgumentError(`It takes ${usageGroups.join(', ')}.`);
  return found;
}
