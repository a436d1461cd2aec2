import { Option, type Command } from 'commander';
import { askPolicies, toolPolicies, type AskPolicy, type Tier, type ToolPolicy } from '@svc/contract/trust.ts';
import { defineCommand, defineDefault } from '../program/define-command.ts';
import { tierParser } from '../tier-words.ts';

type Json = { json?: boolean };
/** Lists are separated by commas; `all` includes every future channel or tool server. */
type Facts = { channels?: string; toolServers?: string; asks?: AskPolicy; about?: string };

/** The actions of `svc role`. */
export type RoleRequest = Json &
  (
    | { action: 'list' }
    | ({ action: 'add'; name: string; tier: Tier; tools: ToolPolicy } & Facts)
    | ({ action: 'set'; name: string; tier?: Tier; tools?: ToolPolicy } & Facts)
    | { action: 'remove'; name: string }
  );

type Run = (request: RoleRequest) => Promise<void>;

const tier = () =>
  new Option('--tier <tier>', 'owner, trusted, known or guest').argParser(tierParser(['SACRED', 'TRUSTED', 'KNOWN', 'GUEST']));
const tools = () => new Option('--tools <policy>', 'what the assistant may do for them').choices(toolPolicies);

/** Adds `role` and its subcommands. */
export function addRoleCommand(program: Command, run: Run): void {
  const noun = defineCommand(program, 'role', {
    summary: 'list the roles that people can be given, add or change one',
    examples: ['./svc role', './svc role add reader --tier known --tools read', './svc person grant anna reader'],
  });
  defineDefault(noun, 'list', { summary: 'list the roles', examples: ['./svc role', './svc role list --json'] })
    .option('--json', 'print JSON')
    .action((options: Json) => run({ action: 'list', ...options }));
  withFacts(
    defineCommand(noun, 'add', {
      summary: 'add a role',
      examples: [
        './svc role add reader --tier known --tools read',
        './svc role add helper --tier trusted --tools full --channels messenger,email',
      ],
    })
      .argument('<name>', 'letters, digits and "._-"')
      .addOption(tier().makeOptionMandatory())
      .addOption(tools().makeOptionMandatory()),
  ).action((name: string, options) => run({ action: 'add', name, ...options }));
  withFacts(
    defineCommand(noun, 'set', {
      summary: 'change a role, for all who have it',
      examples: [
        './svc role set reader --tools none',
        './svc role set helper --channels all --tool-servers github',
        './svc role set owner --asks dangerous',
      ],
    })
      .argument('<name>', 'as the list shows it')
      .addOption(tier())
      .addOption(tools()),
  ).action((name: string, options) => run({ action: 'set', name, ...options }));
  defineCommand(noun, 'remove', { summary: 'delete a role that no one has', examples: ['./svc role remove reader'] })
    .argument('<name>', 'as the list shows it')
    .option('--json', 'print JSON')
    .action((name: string, options: Json) => run({ action: 'remove', name, ...options }));
}

const withFacts = (command: Command): Command =>
  command
    .option('--channels <names>', 'on these channels only, such as messenger,email; or all')
    .option('--tool-servers <names>', 'with these tool servers only; or all, or none')
    .addOption(new Option('--asks <what>', 'what the assistant asks them about before it acts').choices(askPolicies))
    .option('--about <text>', 'what it is for')
    .option('--json', 'print JSON');
