import type { Command } from 'commander';
import { defineCommand, defineDefault, wholeNumber } from '../program/define-command.ts';
import { until } from '../program/parse-time.ts';

type Json = { json?: boolean };
type Scope = { surface?: string; conversation?: string };
type ScopeOptions = Json & { channel?: string; conversation?: string };

/** The actions of `svc person`. */
export type TrustRequest = Json &
  (
    | { action: 'list' }
    | { action: 'add'; key: string; name: string; role?: string }
    | { action: 'enable' | 'disable' | 'remove'; key: string }
    | { action: 'erase'; key: string; keepShared?: boolean; yes?: boolean }
    | { action: 'link'; key: string; surface: string; value: string }
    /** Without surface and value, the first argument is the id of the identifier. */
    | { action: 'unlink'; keyOrId: string; surface?: string; value?: string }
    | ({ action: 'grant'; key: string; role: string; until?: number } & Scope)
    /** Without a role, the first argument is the id of the grant. */
    | ({ action: 'revoke'; keyOrId: string; role?: string } & Scope)
    /** Without key, name and role, lists the open invitations. */
    | { action: 'invite'; key?: string; name?: string; role?: string; surface?: string; until?: number }
    | { action: 'uninvite'; id: string }
    | { action: 'explain'; surface: string; value: string; public?: boolean; key?: string }
    | { action: 'audit'; key?: string; lines: number }
  );

type Run = (request: TrustRequest) => Promise<void>;

const key = ['<key>', 'key of a person, as the list shows it'] as const;

/** Adds `person` and its subcommands. */
export function addPersonCommand(program: Command, run: Run): void {
  const noun = defineCommand(program, 'person', {
    summary: 'list who may talk to the assistant, add people, give them roles',
    examples: [
      './svc person add anna Anna Kern --role known',
      './svc person link anna messenger 12345',
      './svc person grant anna trusted --channel messenger --until 7d',
    ],
  });
  defineDefault(noun, 'list', {
    summary: 'list the people who are known',
    examples: ['./svc person', './svc person list --json'],
  })
    .option('--json', 'print JSON')
    .action((options: Json) => run({ action: 'list', ...options }));
  addAdd(noun, run);
  addLinks(noun, run);
  addInvite(noun, run);
  addGrant(noun, run);
  addRevoke(noun, run);
  addAct(noun, 'disable', 'deny a person everything for now', run);
  addAct(noun, 'enable', 'let a disabled person in again', run);
  addAct(noun, 'remove', 'delete a person with all names and roles', run);
  addErase(noun, run);
  addExplain(noun, run);
  addAudit(noun, run);
}

function addAdd(noun: Command, run: Run): void {
  defineCommand(noun, 'add', { summary: 'add a person', examples: ['./svc person add anna Anna Kern --role known'] })
    .argument('<key>', 'a short name for commands, such as anna')
    .argument('<name...>', 'what they are called')
    .option('-r, --role <role>', 'give them a role at once')
    .option('--json', 'print JSON')
    .action((of: string, words: string[], options: Json & { role?: string }) =>
      run({ action: 'add', key: of, name: words.join(' '), ...options }),
    );
}

function addLinks(noun: Command, run: Run): void {
  defineCommand(noun, 'link', {
    summary: 'set who a person is on a channel',
    examples: ['./svc person link anna messenger 12345'],
  })
    .argument(...key)
    .argument('<channel>', 'such as messenger')
    .argument('<value>', 'their id there')
    .option('--json', 'print JSON')
    .action((of: string, surface: string, value: string, options: Json) =>
      run({ action: 'link', key: of, surface, value, ...options }),
    );
  defineCommand(noun, 'unlink', {
    summary: 'remove such a link',
    examples: ['./svc person unlink anna messenger 12345'],
  })
    .argument('<key>', 'key of a person, or the id of the name alone')
    .argument('[channel]', 'such as messenger')
    .argument('[value]', 'their id there')
    .option('--json', 'print JSON')
    .action((keyOrId: string, surface: string | undefined, value: string | undefined, options: Json, self: Command) => {
      if (surface !== undefined && value === undefined)
        self.error('error: the value is missing. It takes KEY CHANNEL VALUE, or the id of a name alone.');
      return run({ action: 'unlink', keyOrId, surface, value, ...options });
    });
}

function addInvite(noun: Command, run: Run): void {
  defineCommand(noun, 'invite', {
    summary: 'list open invitations, or create one',
    examples: [
      './svc person invite',
      './svc person invite anna --channel messenger',
      './svc person invite --name "Tom Berg" --role guest --until 2h',
    ],
  })
    .argument('[key]', 'key of an existing person; without it a new person is created')
    .option('--name <name>', 'name of a new person (default: that of the sender)')
    .option('-r, --role <role>', 'role of a new person (default: known)')
    .option('-s, --channel <name>', 'on this channel only')
    .option('-u, --until <date>', 'when it expires, at most 7d from now (default: 10m)', until)
    .option('--json', 'print JSON')
    .action(
      (
        of: string | undefined,
        { channel, ...options }: Json & { channel?: string; name?: string; role?: string; until?: number },
      ) => run({ action: 'invite', key: of, surface: channel, ...options }),
    );
  defineCommand(noun, 'uninvite', { summary: 'revoke an invitation', examples: ['./svc person uninvite invitation_…'] })
    .argument('<id>', 'id of an invitation; ./svc person invite lists them')
    .option('--json', 'print JSON')
    .action((id: string, options: Json) => run({ action: 'uninvite', id, ...options }));
}

function addGrant(noun: Command, run: Run): void {
  defineCommand(noun, 'grant', {
    summary: 'give a person a role',
    examples: ['./svc person grant anna known', './svc person grant anna trusted --channel messenger --until 7d'],
  })
    .argument(...key)
    .argument('<role>', 'such as known; ./svc role lists them')
    .option('-s, --channel <name>', 'on this channel only')
    .option('-c, --conversation <key>', 'in this conversation only')
    .option('-u, --until <date>', '2026-12-31, "2026-12-31 18:00" or a time from now such as 7d', until)
    .option('--json', 'print JSON')
    .action((of: string, role: string, { channel, ...options }: ScopeOptions & { until?: number }) =>
      run({ action: 'grant', key: of, role, surface: channel, ...options }),
    );
}

function addRevoke(noun: Command, run: Run): void {
  defineCommand(noun, 'revoke', {
    summary: 'take a role from a person',
    examples: ['./svc person revoke anna trusted', './svc person revoke anna trusted --channel messenger'],
  })
    .argument('<key>', 'key of a person, or the id of a grant alone')
    .argument('[role]', 'such as known')
    .option('-s, --channel <name>', 'the one for this channel')
    .option('-c, --conversation <key>', 'the one for this conversation')
    .option('--json', 'print JSON')
    .action((keyOrId: string, role: string | undefined, { channel, ...options }: ScopeOptions) =>
      run({ action: 'revoke', keyOrId, role, surface: channel, ...options }),
    );
}

function addAct(noun: Command, action: 'enable' | 'disable' | 'remove', summary: string, run: Run): void {
  defineCommand(noun, action, { summary, examples: [`./svc person ${action} anna`] })
    .argument(...key)
    .option('--json', 'print JSON')
    .action((of: string, options: Json) => run({ action, key: of, ...options }));
}

function addErase(noun: Command, run: Run): void {
  defineCommand(noun, 'erase', {
    summary: 'remove all data about a person',
    examples: ['./svc person erase anna', './svc person erase anna --yes'],
  })
    .argument(...key)
    .option('--keep-shared', 'keep conversations in which others also wrote')
    .option('-y, --yes', 'do it; otherwise only show what would be removed and what would stay')
    .option('--json', 'print JSON')
    .action((of: string, options: Json & { keepShared?: boolean; yes?: boolean }) =>
      run({ action: 'erase', key: of, ...options }),
    );
}

function addExplain(noun: Command, run: Run): void {
  defineCommand(noun, 'explain', {
    summary: 'show what a sender may do, and why',
    examples: ['./svc person explain messenger 12345 --public'],
  })
    .argument('<channel>', 'such as messenger')
    .argument('<value>', 'their id there')
    .option('-p, --public', 'as if they wrote in public')
    .option('-k, --key <key>', 'in this conversation')
    .option('--json', 'print JSON')
    .action((surface: string, value: string, options: Json & { public?: boolean; key?: string }) =>
      run({ action: 'explain', surface, value, ...options }),
    );
}

function addAudit(noun: Command, run: Run): void {
  defineCommand(noun, 'audit', {
    summary: 'list what was changed, the newest first',
    examples: ['./svc person audit', './svc person audit anna -n 100'],
  })
    .argument('[key]', 'about this person only')
    .option('-n, --lines <count>', 'how many', wholeNumber(1, 999), 30)
    .option('--json', 'print JSON')
    .action((of: string | undefined, options: Json & { lines: number }) => run({ action: 'audit', key: of, ...options }));
}
