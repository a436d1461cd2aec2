import { Argument, type Command } from 'commander';
import { engineNames } from '@svc/service-kit/config/engine-traits.ts';
import { defineCommand, defineDefault } from '../program/define-command.ts';

type Run = (action: EngineAction, id: string | null, words: readonly string[], options: EngineOptions) => Promise<void>;

const which = `${engineNames.slice(0, -1).join(', ')} or ${engineNames.at(-1)}`;

/** Adds `engine` and its subcommands. */
export function addEngineCommand(program: Command, run: Run): void {
  const noun = defineCommand(program, 'engine', {
    summary: 'list the engines, install one, log in, choose its model',
    examples: ['./svc engine install codex', './svc engine login codex', './svc engine default codex'],
  });
  defineDefault(noun, 'list', {
    summary: 'list the engines, and model servers of this machine',
    examples: ['./svc engine', './svc engine list --json'],
  })
    .option('--json', 'print JSON')
    .action((options: EngineOptions) => run('list', null, [], options));
  addSetup(noun, run);
  addSettings(noun, run);
}

function addSetup(noun: Command, run: Run): void {
  defineCommand(noun, 'install', {
    summary: 'install or update the program of an engine',
    examples: ['./svc engine install codex'],
  })
    .argument('<id>', which)
    .action((id: string) => run('install', id, [], {}));
  defineCommand(noun, 'rollback', {
    summary: 'restore the version from before the last update',
    examples: ['./svc engine rollback codex'],
  })
    .argument('<id>', which)
    .action((id: string) => run('rollback', id, [], {}));
  defineCommand(noun, 'login', {
    summary: "log in with the engine's own program",
    examples: ['./svc engine login codex', './svc engine login codex --device-auth'],
  })
    .argument('<id>', which)
    .argument('[options...]', "for the vendor's program, such as --device-auth")
    .allowUnknownOption()
    .action((id: string, words: string[]) => run('login', id, words, {}));
  addKey(noun, run);
  defineCommand(noun, 'test', { summary: 'have an engine answer once', examples: ['./svc engine test codex'] })
    .argument('<id>', which)
    .action((id: string) => run('test', id, [], {}));
}

/** A key typed as an argument is refused with its own message. */
function addKey(noun: Command, run: Run): void {
  defineCommand(noun, 'key', {
    summary: 'store an API key, typed or piped in',
    examples: ['./svc engine key gemini', 'pass show gemini | ./svc engine key gemini', './svc engine key gemini --remove'],
  })
    .argument('<id>', which)
    .option('--remove', 'forget it and use the login again')
    .allowExcessArguments()
    .action((id: string, options: EngineOptions, self: Command) => {
      if (self.args.length > 1) self.error('error: a key is not given as an argument: everyone on this machine could see it.');
      return run('key', id, [], options);
    });
}

function addSettings(noun: Command, run: Run): void {
  defineCommand(noun, 'default', {
    summary: 'use an engine wherever no other is chosen',
    examples: ['./svc engine default codex', './svc engine default none'],
  })
    .argument('<id>', `${which}; "none" clears`)
    .action((id: string) => run('default', id, [], {}));
  defineCommand(noun, 'model', {
    summary: 'choose the model of an engine, or list its models',
    examples: ['./svc engine model codex', './svc engine model codex gpt-6-luna', './svc engine model codex none'],
  })
    .argument('<id>', which)
    .argument('[model]', 'its name; "none" clears; without it they are listed')
    .action((id: string, model: string | undefined) => run('model', id, model === undefined ? [] : [model], {}));
  defineCommand(noun, 'base-url', {
    summary: 'set the model server that codex uses',
    examples: ['./svc engine base-url codex http://127.0.0.1:11434/v1', './svc engine base-url codex none'],
  })
    .argument('<id>', which)
    .argument('<url>', 'address of the server; "none" clears')
    .action((id: string, url: string) => run('base-url', id, [url], {}));
  defineCommand(noun, 'auto-update', {
    summary: 'turn automatic updates of an engine on or off',
    examples: ['./svc engine auto-update claude on'],
  })
    .argument('<id>', which)
    .addArgument(new Argument('<state>', 'whether it updates automatically').choices(['on', 'off']))
    .action((id: string, state: string) => run('auto-update', id, [state], {}));
}

/** The actions of `svc engine`. */
export type EngineAction =
  | 'list'
  | 'install'
  | 'rollback'
  | 'test'
  | 'login'
  | 'default'
  | 'model'
  | 'key'
  | 'auto-update'
  | 'base-url';

/** `remove`: deletes the key. */
export type EngineOptions = { json?: boolean; remove?: boolean };
