import { Argument, InvalidArgumentError, type Command } from 'commander';

export const instanceActions = ['start', 'stop', 'restart'] as const;
export type InstanceAction = (typeof instanceActions)[number];

/** `set`: fields as they were typed. `secrets`: fields whose secret is read from the terminal or a pipe. */
export type AddRequest = {
  action: 'add';
  type: string | null;
  name: string | null;
  set: Record<string, string>;
  secrets: string[];
  off: boolean;
  keep: boolean;
  json?: boolean;
};
export type ConfigRequest = {
  action: 'config';
  name: string;
  set: Record<string, string>;
  unset: string[];
  secrets: string[];
  get?: string;
  json?: boolean;
};

/** What `svc connector` is asked for. Names are those of instances, or their ids. */
export type ConnectorRequest =
  | { action: 'list'; json?: boolean }
  | AddRequest
  | ConfigRequest
  | { action: InstanceAction | 'remove'; name: string; json?: boolean }
  | { action: 'test'; name: string }
  | { action: 'logs'; name: string; follow?: boolean; lines: number; json?: boolean };

export type NewRequest = { what: 'connector'; name: string; dir?: string };

type AddOptions = { set?: Record<string, string>; secret?: string[]; off?: boolean; keep?: boolean; json?: boolean };
type ConfigOptions = { set?: Record<string, string>; unset?: string[]; secret?: string[]; get?: string; json?: boolean };

/** Adds `connector` and `new` with what belongs to them to the program. */
export function addConnectorCommands(
  program: Command,
  run: (request: ConnectorRequest) => Promise<void>,
  create: (request: NewRequest) => Promise<void>,
): void {
  const connector = program
    .command('connector')
    .description('list the connectors, add, set, start, stop or remove one, and show its log')
    .addHelpText('after', examples);
  connector
    .command('list', { isDefault: true })
    .description('list the connectors there are')
    .option('--json', 'print JSON')
    .action((options: { json?: boolean }) => run({ action: 'list', ...options }));
  addAdd(connector, run);
  addConfig(connector, run);
  connector
    .command('logs')
    .description('show what a connector says')
    .argument('<name>', 'as the list shows it')
    .option('-f, --follow', 'go on with what comes')
    .option('-n, --lines <count>', 'how many lines', wholeNumber, 100)
    .option('--json', 'print the lines as they are')
    .action((name: string, options: { follow?: boolean; lines: number; json?: boolean }) =>
      run({ action: 'logs', name, ...options }),
    );
  const describe = {
    start: 'start it, now and with the service',
    stop: 'stop it, until it is started',
    restart: 'start it anew',
  };
  for (const action of instanceActions) simple(connector, action, describe[action], run);
  simple(connector, 'remove', 'stop it and delete it with its files', run);
  connector
    .command('test')
    .description('run the tests of a connector of your own')
    .argument('<name>', 'its type, or its folder')
    .action((name: string) => run({ action: 'test', name }));
  addNew(program, create);
}

function addAdd(connector: Command, run: (request: AddRequest) => Promise<void>): void {
  connector
    .command('add')
    .description('add a connector; in a terminal it asks for what is needed. Without a type it lists them')
    .argument('[type]', 'what it connects to, such as compat')
    .argument('[name]', 'how it is called here; the type when not given')
    .option('-s, --set <field=value>', 'a setting; may be repeated', collect)
    .option('--secret <field>', 'a credential whose value is typed, or read from a pipe, a line each; may be repeated', gather)
    .option('--off', 'do not start it')
    .option('--keep', 'keep it also when it does not start')
    .option('--json', 'print JSON')
    .action((type: string | undefined, name: string | undefined, { set = {}, secret = [], off, keep, json }: AddOptions) =>
      run({
        action: 'add',
        type: type ?? null,
        name: name ?? null,
        set,
        secrets: secret,
        off: off === true,
        keep: keep === true,
        json,
      }),
    );
}

function addConfig(connector: Command, run: (request: ConfigRequest) => Promise<void>): void {
  connector
    .command('config')
    .description('show the settings of a connector, or change some; a running one restarts')
    .argument('<name>', 'as the list shows it')
    .option('-s, --set <field=value>', 'a setting; may be repeated', collect)
    .option('--unset <field>', 'back to its default; may be repeated', gather)
    .option('--secret <field>', 'a credential whose value is typed, or read from a pipe; may be repeated', gather)
    .option('--get <field>', 'print one of them')
    .option('--json', 'print JSON')
    .action((name: string, { set = {}, unset = [], secret = [], get, json }: ConfigOptions) =>
      run({ action: 'config', name, set, unset, secrets: secret, get, json }),
    );
}

function simple(
  connector: Command,
  action: InstanceAction | 'remove',
  description: string,
  run: (request: ConnectorRequest) => Promise<void>,
): void {
  connector
    .command(action)
    .description(description)
    .argument('<name>', 'as the list shows it')
    .option('--json', 'print JSON')
    .action((name: string, options: { json?: boolean }) => run({ action, name, ...options }));
}

function addNew(program: Command, create: (request: NewRequest) => Promise<void>): void {
  program
    .command('new')
    .description('begin a connector of your own from the template')
    .addArgument(new Argument('<what>', 'what to begin').choices(['connector']))
    .argument('<name>', 'its type: a-z, 0-9 and "-"')
    .option('--dir <folder>', 'where its folder is made; the connectors folder of the data folder when not given')
    .action((_what: string, name: string, { dir }: { dir?: string }) => create({ what: 'connector', name, dir }));
}

const examples = `
Examples:
  ./svc connector add                     lists the types there are
  ./svc connector add shop                asks for what it needs
  printf %s "$TOKEN" | ./svc connector add shop --secret token_secret_key
  ./svc connector config shop --set debounce_ms=800
  ./svc connector logs shop -f`;

/** Gathers what a repeated option sets. */
function collect(text: string, before: Record<string, string> = {}): Record<string, string> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('It takes field=value.');
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}

const gather = (text: string, before: string[] = []): string[] => [...before, text];

function wholeNumber(text: string): number {
  if (!/^\d{1,7}$/.test(text)) throw new InvalidArgumentError('It takes a whole number.');
  return Number(text);
}
