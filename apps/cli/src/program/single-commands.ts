import { Argument, type Command } from 'commander';
import type { ChatOptions } from '../commands/chat.ts';
import type { LogsOptions } from '../commands/logs.ts';
import type { PairOptions } from '../commands/pair.ts';
import type { SendOptions } from '../commands/send.ts';
import type { SpeakOptions, TranscribeOptions } from '../commands/speech.ts';
import type { TestOptions } from '../commands/test.ts';
import { shells, type Shell } from '../completion/render-completion.ts';
import { defineCommand, wholeNumber } from './define-command.ts';
import type { Run } from './lazy-commands.ts';

export function addUpCommand(program: Command, run: Run): void {
  defineCommand(program, 'up', { summary: 'run the service in the foreground, until Ctrl-C', examples: ['./svc up'] }).action(
    () => run.up(),
  );
}

export function addChatCommand(program: Command, run: Run): void {
  defineCommand(program, 'chat', {
    summary: 'talk to the assistant',
    examples: [
      './svc chat hello',
      './svc chat            (a conversation)',
      'git diff | ./svc chat --session review --new "Is this right?"',
      './svc chat --file plan.pdf "Sum this up"',
    ],
  })
    .argument('[text...]', 'one message; piped text is added below it; without both, a conversation begins')
    .option('-s, --session <key>', 'which conversation: a name, or its whole key', 'default')
    .option('-n, --new', 'start the conversation over')
    .option('-f, --file <path>', 'a file to attach; may be repeated', (file: string, files: string[] | undefined) => [
      ...(files ?? []),
      file,
    ])
    .option('--json', 'print the result as JSON')
    .action((words: string[], options: ChatOptions) => run.chat(words.join(' '), options));
}

export function addSpeakCommand(program: Command, run: Run): void {
  defineCommand(program, 'speak', {
    summary: 'turn a text into speech, in a file or a pipe',
    examples: ['./svc speak -o hello.mp3 Good morning', './svc speak --format wav Good morning | aplay'],
  })
    .argument('<text...>', 'the text to speak')
    .option('-o, --output <file>', 'the file to write; its extension sets the format')
    .option('--voice <name>', 'who speaks')
    .option('--model <name>', 'model that speaks')
    .option('--format <format>', 'mp3, opus, aac, flac, wav or pcm')
    .action((words: string[], options: SpeakOptions) => run.speak(words.join(' '), options));
}

export function addTranscribeCommand(program: Command, run: Run): void {
  defineCommand(program, 'transcribe', {
    summary: 'print the text of an audio clip',
    examples: ['./svc transcribe note.ogg', './svc transcribe note.ogg --language de --json'],
  })
    .argument('<file>', 'a clip, such as note.ogg')
    .option('--language <code>', 'the spoken language, such as en')
    .option('--model <name>', 'model that listens')
    .option('--mime <type>', 'the type of the file, if its first bytes do not show it')
    .option('--json', 'print JSON')
    .action((file: string, options: TranscribeOptions) => run.transcribe(file, options));
}

export function addPairCommand(program: Command, run: Run): void {
  defineCommand(program, 'pair', {
    summary: 'list who is waiting for access, or let in the sender of a code',
    examples: [
      './svc pair',
      './svc pair ABCD-EFGH --role guest --name "Anna Kern"',
      './svc pair ABCD-EFGH --as owner     (your own other device)',
    ],
  })
    .argument('[code...]', 'the code that a sender was given, such as ABCD-EFGH')
    .option('--as <key>', 'link to an existing person')
    .option('--role <role>', 'role of a new person (default: known)')
    .option('--name <name>', 'name of a new person (default: that of the sender)')
    .option('--json', 'print JSON')
    .action((code: string[], options: PairOptions) => run.pair(code.join(' '), options));
}

export function addSendCommand(program: Command, run: Run): void {
  defineCommand(program, 'send', {
    summary: 'send a message through a channel, or list where one can go',
    examples: ['./svc send', './svc send messenger 12345 The train is late', './svc send -i messenger-2 12345 --file FILE'],
  })
    .argument('[channel]', 'a connector type, or the name of an instance')
    .argument('[target]', 'room, chat or device there')
    .argument('[text...]', 'the message')
    .option('-i, --instance', 'the first argument is the id of an instance')
    .option('-f, --file <path>', 'a file of the upload area; the text is its caption then')
    .option('-k, --kind <kind>', 'how it is sent, such as photo')
    .option('--json', 'print JSON')
    .action((channel: string | undefined, target: string | undefined, words: string[], options: SendOptions) =>
      run.send(channel ?? null, target ?? '', words.join(' '), options),
    );
}

export function addStatusCommand(program: Command, run: Run): void {
  defineCommand(program, 'status', {
    summary: 'show what runs, and what is wrong with it',
    examples: ['./svc status', './svc status --json'],
  })
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExits with 0: everything works, 1: something is wrong, 3: nothing runs here.')
    .action((options: { json?: boolean }) => run.status(options));
}

export function addDoctorCommand(program: Command, run: Run): void {
  defineCommand(program, 'doctor', {
    summary: 'find what is wrong and say how to fix it',
    examples: ['./svc doctor', './svc doctor --json'],
  })
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExits with 0 without problems, with 1 otherwise. Notes (!) do not count.')
    .action((options: { json?: boolean }) => run.doctor(options));
}

export function addLogsCommand(program: Command, run: Run): void {
  defineCommand(program, 'logs', {
    summary: 'show the logs of the processes',
    examples: ['./svc logs -f', './svc logs core -n 500'],
  })
    .argument('[name]', 'of one process only, such as core')
    .option('-f, --follow', 'keep showing new lines')
    .option('-n, --lines <count>', 'how many lines', wholeNumber(0, 9_999_999), 100)
    .option('--json', 'print the lines as they are')
    .action((name: string | undefined, options: LogsOptions) => run.logs(name ?? null, options));
}

export function addCompletionCommand(program: Command, run: Run): void {
  defineCommand(program, 'completion', {
    summary: 'print a completion script for a shell',
    examples: [
      './svc completion bash            (source it in ~/.bashrc)',
      './svc completion zsh             (source it in ~/.zshrc, after compinit)',
      './svc completion fish | source   (in ~/.config/fish/config.fish)',
    ],
  })
    .addArgument(new Argument('<shell>', 'which one').choices(shells))
    .action((shell: Shell) => run.completion(shell, program));
}

export function addTestCommand(program: Command, run: Run): void {
  defineCommand(program, 'test', {
    summary: 'run the tests, all of them or some; other options go to vitest',
    examples: ['./svc test', './svc test --unit', './svc test apps/cli -t "a rule"'],
  })
    .argument('[filters...]', 'parts of file names, options of vitest')
    .option('--unit', 'only those that start no process, in under a minute')
    .option('--deep', 'also the long ones, and random tests 20 times as often')
    .allowUnknownOption()
    .action((filters: string[], options: TestOptions) => run.test(filters, options));
}

export function addCheckCommand(program: Command, run: Run): void {
  defineCommand(program, 'check', {
    summary: 'check format, lint, types, dead code, imports and lists',
    examples: ['./svc check', './svc check --fix'],
  })
    .option('--fix', 'format the sources and fix what can be fixed')
    .action((options: { fix?: boolean }) => run.check(options));
}
