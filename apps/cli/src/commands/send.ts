import path from 'node:path';
import type { SendAnswer, SendRequest, SendTarget } from '@svc/contract/send.ts';
import type { CliSettings } from '@svc/service-kit/config/process-settings.ts';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { askManager } from '../service-client.ts';
import { CliError } from '../cli-error.ts';
import { repositoryRoot } from '../repository-root.ts';
import { renderTargets } from '../send/render-targets.ts';
import { toSendRequest } from '../send/to-send-request.ts';
import { createStyle, print } from '../terminal.ts';

/** `instance`: the channel is the id of an instance; `file`: a path in the upload area. */
export type SendOptions = { instance?: boolean; file?: string; kind?: string; json?: boolean };

/** Sends one message out through a channel, or lists where messages can be sent. */
export async function send(channel: string | null, target: string, text: string, options: SendOptions): Promise<number> {
  const settings: CliSettings = loadSettings(repositoryRoot);
  if (channel === null) return listTargets(settings, options);
  const file = options.file === undefined ? undefined : path.resolve(options.file);
  await sendOne(settings, toSendRequest(channel, target, text, { ...options, file }), options);
  return exitCodes.ok;
}

async function sendOne(settings: CliSettings, request: SendRequest, { json }: SendOptions): Promise<void> {
  const answer = await askManager<SendAnswer>(settings, '/send', request);
  if (!answer.ok) {
    throw new CliError('the message was not sent.', { why: answer.body.message, run: helpFor(answer.status) });
  }
  const { instance_id: instance, id } = answer.body;
  print(json === true ? JSON.stringify(answer.body, null, 2) : `Sent through ${instance} as ${id}.`);
}

async function listTargets(settings: CliSettings, { json }: SendOptions): Promise<number> {
  const answer = await askManager<{ targets: SendTarget[] }>(settings, '/send/targets');
  if (!answer.ok)
    throw new CliError('the manager does not tell where messages can be sent.', {
      why: answer.body.message,
      run: './svc doctor',
    });
  print(json === true ? JSON.stringify(answer.body, null, 2) : renderTargets(answer.body.targets, createStyle(process.stdout)));
  return exitCodes.ok;
}

function helpFor(status: number): string {
  if (status < 404) return './svc send --help';
  return status < 410 ? './svc send' : './svc logs manager';
}
