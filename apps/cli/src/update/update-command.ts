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
    .option('--check', 'show what would happen; nothing is changed')
    .addOption(new Option('--channel <name>', 'follow releases, or the main branch, from now on').choices(['stable', 'edge']))
    .option('--ref <ref>', 'to this tag, branch or commit, even an older one')
    .addOption(new Option('--rollback', 'return to the version before the last update').conflicts(['ref', 'channel', 'check']))
    .addOption(
      new Option('--repair', 'only complete an update that was interrupted').conflicts([
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
        'agent: if it cannot continue because of your changes, or of the version, your engine repairs it',
      )
        .choices(['agent'])
        .conflicts(['check', 'rollback', 'repair', 'auto']),
    )
    .addOption(new Option('--auto <when>', 'install updates automatically, or not').choices(['on', 'off']))
    .option('--json', 'print JSON at the end')
    .addHelpText(
      'after',
      '\nExits with 0: done, 2: the new version was rolled back, 3: action is needed,\n4: up to date, 5: another update is running, 6: something else updates it.',
    )
    .action((options: UpdateOptions) => run.update(options));
}
