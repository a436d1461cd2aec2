import { InvalidArgumentError, type Command } from 'commander';
import { defineCommand, defineDefault, wholeNumber } from '../program/define-command.ts';

export type InstanceAction = 'start' | 'stop' | 'restart';

/** `set`: fields as typed. `secrets`: fields whose value is read from the terminal or a pipe. */
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

/** The actions of `svc connector`. Names are names or ids of instances. */
export type ConnectorRequest =
  | { action: 'list'; json?: boolean }
  | AddRequest
  | ConfigRequest
  | { action: InstanceAction | 'remove'; name: string; json?: boolean }
  | { action: 'test'; name: string }
  | { action: 'logs'; name: string; follow?: boolean; lines: number; json?: boolean };

export type NewRequest = { name: string; dir?: string };

type AddOptions = { set?: Record<string, string>; secret?: string[]; off?: boolean; keep?: boolean; json?: boolean };
type ConfigOptions = { set?: Record<string, string>; unset?: string[]; secret?: string[]; get?: string; json?: boolean };
type Run = (request: ConnectorRequest) => Promise<void>;

/** Adds `connector` and its subcommands. */
export function addConnectorCommand(program: Command, run: Run, create: (request: NewRequest) => Promise<void>): void {
  const noun = defineCommand(program, 'connector', {
    summary: 'list the connectors, add, configure, start or stop one',
    examples: [
      './svc connector add messenger',
      './svc connector config shop --set debounce_ms=800',
      './svc connector logs shop -f',
    ],
  });
  defineDefault(noun, 'list', {
    summary: 'list the connectors',
    examples: ['./svc connector', './svc connector list --json'],
  })
    .option('--json', 'print JSON')
    .action((options: { json?: boolean }) => run({ action: 'list', ...options }));
  addAdd(noun, run);
  addConfig(noun, run);
  addLogs(noun, run);
  addAct(noun, 'start', 'start one, now and with the service', run);
  addAct(noun, 'stop', 'stop one until it is started', run);
  addAct(noun, 'restart', 'stop one and start it again', run);
  addAct(noun, 'remove', 'stop one and delete it with its files', run);
  addOwn(noun, run, create);
}

function addAdd(noun: Command, run: Run): void {
  defineCommand(noun, 'add', {
    summary: 'add one; without a type, list the types',
    examples: [
      './svc connector add                   (lists the types)',
      './svc connector add messenger         (asks for what it needs)',
      'printf %s "$TOKEN" | ./svc connector add shop --secret token_secret_key',
    ],
  })
    .argument('[type]', 'what it connects to, such as compat')
    .argument('[name]', 'its name here (default: the type)')
    .option('-s, --set <field=value>', 'a setting; may be repeated', collect)
    .option('--secret <field>', 'a credential whose value is typed, or read from a pipe, a line each; may be repeated', gather)
    .option('--off', 'do not start it')
    .option('--keep', 'keep it even if it does not start')
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

function addConfig(noun: Command, run: Run): void {
  defineCommand(noun, 'config', {
    summary: 'show the settings of one, or change some',
    examples: ['./svc connector config shop', './svc connector config shop --set debounce_ms=800 --unset greeting'],
  })
    .argument('<name>', 'as the list shows it; a running one restarts after a change')
    .option('-s, --set <field=value>', 'a setting; may be repeated', collect)
    .option('--unset <field>', 'reset to its default; may be repeated', gather)
    .option('--secret <field>', 'a credential whose value is typed, or read from a pipe; may be repeated', gather)
    .option('--get <field>', 'print one of them')
    .option('--json', 'print JSON')
    .action((name: string, { set = {}, unset = [], secret = [], get, json }: ConfigOptions) =>
      run({ action: 'config', name, set, unset, secrets: secret, get, json }),
    );
}

function addLogs(noun: Command, run: Run): void {
  defineCommand(noun, 'logs', {
    summary: 'show what one wrote',
    examples: ['./svc connector logs shop -f', './svc connector logs shop -n 500'],
  })
    .argument('<name>', 'as the list shows it')
    .option('-f, --follow', 'keep showing new lines')
    .option('-n, --lines <count>', 'how many lines', wholeNumber(0, 9_999_999), 100)
    .option('--json', 'print the lines as they are')
    .action((name: string, options: { follow?: boolean; lines: number; json?: boolean }) =>
      run({ action: 'logs', name, ...options }),
    );
}

function addAct(noun: Command, action: InstanceAction | 'remove', summary: string, run: Run): void {
  defineCommand(noun, action, { summary, examples: [`./svc connector ${action} shop`] })
    .argument('<name>', 'as the list shows it')
    .option('--json', 'print JSON')
    .action((name: string, options: { json?: boolean }) => run({ action, name, ...options }));
}

/** Commands for people who write a connector. */
function addOwn(noun: Command, run: Run, create: (request: NewRequest) => Promise<void>): void {
  defineCommand(noun, 'new', {
    summary: 'make a connector of your own from the template',
    examples: ['./svc connector new my-shop', './svc connector new my-shop --dir ~/src'],
  })
    .argument('<name>', 'its type: a-z, 0-9 and "-"')
    .option('--dir <folder>', 'where its folder is created (default: the connectors folder of the data folder)')
    .action((name: string, { dir }: { dir?: string }) => create({ name, dir }));
  defineCommand(noun, 'test', {
    summary: 'run the tests of a connector of your own',
    examples: ['./svc connector test my-shop'],
  })
    .argument('<name>', 'its type, or its folder')
    .action((name: string) => run({ action: 'test', name }));
}

/** Collects the values of a repeated option. */
function collect(text: string, before: Record<string, string> = {}): Record<string, string> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('It takes field=value.');
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}

const gather = (text: string, before: string[] = []): string[] => [...before, text];
