import { Argument, InvalidArgumentError, Option, type Command } from 'commander';
import type { EventsOptions } from '../commands/events.ts';
import type { OtelAction, OtelOptions } from '../commands/otel.ts';
import type { SearchOptions } from '../commands/search.ts';
import type { SessionsOptions } from '../commands/sessions.ts';
import type { UsageOptions } from '../commands/usage.ts';
import { since } from './since.ts';

/** What `svc usage`, `events`, `sessions`, `search` and `otel` do; each gives the exit code. Loaded when it is used. */
export const insightsCommands = {
  usage: async (options: UsageOptions) => (await import('../commands/usage.ts')).usage(options),
  events: async (options: EventsOptions) => (await import('../commands/events.ts')).events(options),
  sessions: async (options: SessionsOptions) => (await import('../commands/sessions.ts')).sessions(options),
  search: async (words: string, options: SearchOptions) => (await import('../commands/search.ts')).search(words, options),
  otel: async (action: OtelAction, options: OtelOptions) => (await import('../commands/otel.ts')).otel(action, options),
};
export type InsightsCommands = typeof insightsCommands;

const time = '30m, 24h, 7d or a date';

export function addInsightsCommands(program: Command, commands: InsightsCommands, done: (exitCode: number) => void): void {
  program
    .command('usage')
    .description('show what was used and what it cost')
    .addOption(new Option('--since <time>', time).argParser(fromNow).default(since('7d'), '7d'))
    .addOption(
      new Option('--by <group>', 'one line for each of these').choices(['surface', 'identity', 'day']).default('surface'),
    )
    .option('--json', 'print JSON')
    .action(async (options: UsageOptions) => done(await commands.usage(options)));
  program
    .command('events')
    .description('show what happened')
    .option('-f, --follow', 'go on with what comes')
    .option('-n, --lines <count>', 'how many', wholeNumber, 50)
    .option('--surface <name>', 'only of this channel')
    .option('--session <key>', 'only of this conversation')
    .option('--identity <name>', 'only of this sender')
    .option('--since <time>', `only later ones: ${time}`, fromNow)
    .option('--json', 'print one JSON object a line')
    .action(async (options: EventsOptions) => done(await commands.events(options)));
  program
    .command('sessions')
    .description('list the conversations that are at work')
    .option('-a, --all', 'also those in which nothing happened for a while')
    .option('-f, --follow', 'go on as they change')
    .option('--limit <count>', 'how many', wholeNumber, 50)
    .option('--json', 'print JSON')
    .action(async (options: SessionsOptions) => done(await commands.sessions(options)));
  program
    .command('search')
    .description('find conversations by what was said in them')
    .argument('<words...>', 'all have to occur; "several words" in a row, begin*')
    .option('--since <time>', `only later ones: ${time}`, fromNow)
    .option('--limit <count>', 'how many conversations', wholeNumber, 20)
    .option('--json', 'print JSON')
    .action(async (words: string[], options: SearchOptions) => done(await commands.search(words.join(' '), options)));
  program
    .command('otel')
    .description('show how traces and metrics are exported to OpenTelemetry, or install what that needs')
    .addArgument(new Argument('[action]', 'what to do').choices(['status', 'install']).default('status'))
    .option('--json', 'print JSON')
    .action(async (action: OtelAction, options: OtelOptions) => done(await commands.otel(action, options)));
}

const fromNow = (text: string): number => since(text);

function wholeNumber(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('It takes a whole number.');
  return Number(text);
}
