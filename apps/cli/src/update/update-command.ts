import { Option, type Command } from 'commander';
import type { UpdateOptions } from '../commands/update.ts';
import { defineCommand } from '../program/define-command.ts';
import type { Run } from '../program/lazy-commands.ts';

/** Adds `update`. */
export function addUpdateCommand(program: Command, run: Run): void {
  defineCommand(program, 'update', {
    summary: 'change to a newer version of the service, or back',
    examples: [
      './svc update --check',
      './svc update',
      './svc update --channel edge',
      './svc update --auto on',
      './svc update --rollback',
      './svc update --mode agent',
    ],
  })
    .option('--check', 'say what would happen; nothing is changed')
    .addOption(new Option('--channel <name>', 'follow releases, or the main branch, from now on').choices(['stable', 'edge']))
    .option('--ref <ref>', 'to this tag, branch or commit, also an older one')
    .addOption(new Option('--rollback', 'back to the version before the last update').conflicts(['ref', 'channel', 'check']))
    .addOption(
      new Option('--repair', 'only bring to an end what an update that was cut off has left').conflicts([
        'check',
        'channel',
        'ref',
        'rollback',
        'auto',
      ]),
    )
    .addOption(
      new Option(
        '--mode <how>',
        'agent: where it cannot go on because of your changes, or of the version, your engine repairs it',
      )
        .choices(['agent'])
        .conflicts(['check', 'rollback', 'repair', 'auto']),
    )
    .addOption(new Option('--auto <when>', 'install by itself what is found, or no more').choices(['on', 'off']))
    .option('--json', 'print JSON at the end')
    .addHelpText(
      'after',
      '\nEnds with 0: done, 2: the new version was taken back, 3: a person has to look,\n4: up to date, 5: another update runs, 6: something else updates this one.',
    )
    .action((options: UpdateOptions) => run.update(options));
}
