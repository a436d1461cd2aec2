import { InvalidArgumentError, type Command } from 'commander';
import { parseUntil } from './parse-until.ts';

type Json = { json?: boolean };
type Scope = { surface?: string; conversation?: string };

/** What `svc trust` is asked for. */
export type TrustRequest = Json &
  (
    | { action: 'list' | 'roles' }
    | { action: 'add'; key: string; name: string; role?: string }
    | { action: 'enable' | 'disable' | 'remove'; key: string }
    | { action: 'link'; key: string; surface: string; value: string }
    /** Without surface and value the first is the id of the identifier. */
    | { action: 'unlink'; keyOrId: string; surface?: string; value?: string }
    | ({ action: 'grant'; key: string; role: string; until?: number } & Scope)
    /** Without a role the first is the id of the grant. */
    | ({ action: 'revoke'; keyOrId: string; role?: string } & Scope)
    | { action: 'explain'; surface: string; value: string; public?: boolean; key?: string }
    | { action: 'audit'; key?: string; lines: number }
  );

/** Adds `trust` and what belongs to it to the program. */
export function addTrustCommand(program: Command, run: (request: TrustRequest) => Promise<void>): void {
  const trust = program
    .command('trust')
    .description('who may talk to the assistant, and what they may do: list, add, link, grant, explain')
    .addHelpText('after', examples);
  const command = (name: string, description: string, ...args: [string, string?][]) => {
    const made = trust.command(name).description(description).option('--json', 'print JSON');
    for (const [arg, about] of args) made.argument(arg, about);
    return made;
  };
  const key: [string, string] = ['<key>', 'key of a person, as the list shows it'];

  trust
    .command('list', { isDefault: true })
    .description('list everybody who is known')
    .option('--json', 'print JSON')
    .action((options: Json) => run({ action: 'list', ...options }));
  command('roles', 'list the roles that can be given').action((options: Json) => run({ action: 'roles', ...options }));
  command('add', 'make a new person', ['<key>', 'a short name for commands, such as anna'], ['<name...>', 'what they are called'])
    .option('-r, --role <role>', 'give them a role at once')
    .action((of: string, words: string[], options: Json & { role?: string }) =>
      run({ action: 'add', key: of, name: words.join(' '), ...options }),
    );
  command(
    'link',
    'say by what name a person is known on a channel',
    key,
    ['<surface>', 'such as messenger'],
    ['<value>', 'their id there'],
  ).action((of: string, surface: string, value: string, options: Json) =>
    run({ action: 'link', key: of, surface, value, ...options }),
  );
  command(
    'unlink',
    'take such a name from a person',
    ['<key>', 'key of a person, or the id of the name alone'],
    ['[surface]', 'such as messenger'],
    ['[value]', 'their id there'],
  ).action((keyOrId: string, surface: string | undefined, value: string | undefined, options: Json) =>
    run({ action: 'unlink', keyOrId, surface, value, ...options }),
  );
  command('grant', 'give a person a role', key, ['<role>', 'such as known; ./svc trust roles lists them'])
    .option('-s, --surface <surface>', 'on this channel only')
    .option('-c, --conversation <key>', 'in this conversation only')
    .option('-u, --until <date>', '2026-12-31, "2026-12-31 18:00" or a time from now such as 7d', until)
    .action((of: string, role: string, options: Json & Scope & { until?: number }) =>
      run({ action: 'grant', key: of, role, ...options }),
    );
  command(
    'revoke',
    'take a role from a person',
    ['<key>', 'key of a person, or the id of a grant alone'],
    ['[role]', 'such as known'],
  )
    .option('-s, --surface <surface>', 'the one for this channel')
    .option('-c, --conversation <key>', 'the one for this conversation')
    .action((keyOrId: string, role: string | undefined, options: Json & Scope) =>
      run({ action: 'revoke', keyOrId, role, ...options }),
    );
  for (const [action, description] of [
    ['disable', 'deny a person everything, and keep what they were given'],
    ['enable', 'let a disabled person in again'],
    ['remove', 'forget a person with all names and roles'],
  ] as const) {
    command(action, description, key).action((of: string, options: Json) => run({ action, key: of, ...options }));
  }
  command(
    'explain',
    'say who a sender is, what they may do, and why',
    ['<surface>', 'such as messenger'],
    ['<value>', 'their id there'],
  )
    .option('-p, --public', 'as if they wrote in public')
    .option('-k, --key <key>', 'in this conversation')
    .action((surface: string, value: string, options: Json & { public?: boolean; key?: string }) =>
      run({ action: 'explain', surface, value, ...options }),
    );
  command('audit', 'list what was changed, the newest first', ['[key]', 'about this person only'])
    .option('-n, --lines <count>', 'how many', wholeNumber, 30)
    .action((of: string | undefined, options: Json & { lines: number }) => run({ action: 'audit', key: of, ...options }));
}

const examples = `
Examples:
  ./svc trust add anna Anna Kern --role known
  ./svc trust link anna messenger 12345
  ./svc trust grant anna trusted --surface messenger --until 7d
  ./svc trust explain messenger 12345 --public`;

function until(text: string): number {
  const at = parseUntil(text, Date.now());
  if (at === null)
    throw new InvalidArgumentError('It takes a day such as 2026-12-31, a day with a time, or a time from now such as 7d.');
  return at;
}

function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,2}$/.test(text)) throw new InvalidArgumentError('It takes a whole number from 1 to 999.');
  return Number(text);
}
