import path from 'node:path';
import type { SendAnswer, SendRequest, SendTarget } from '@svc/contract/send.ts';
import type { CliSettings } from '@svc/service-kit/config/process-settings.ts';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { askManager } from '../service-client.ts';
import { CliError, commandIn } from '../cli-error.ts';
import { repositoryRoot } from '../repository-root.ts';
import { createStyle, print, visibleLine, type Style } from '../terminal.ts';

/** `instance`: the channel is the id of an instance; `file`: a path in the upload area. */
export type SendOptions = { instance?: boolean; file?: string; kind?: string; json?: boolean };

/** Sends one message through a channel, or lists where messages can be sent. */
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
    const { message } = answer.body;
    throw new CliError('the message was not sent.', { why: message, run: commandIn(message) ?? helpFor(answer.status) });
  }
  const { instance_id: instance, id } = answer.body;
  print(json === true ? JSON.stringify(answer.body, null, 2) : `Sent through ${instance} as ${id}.`);
}

async function listTargets(settings: CliSettings, { json }: SendOptions): Promise<number> {
  const answer = await askManager<{ targets: SendTarget[] }>(settings, '/send/targets');
  if (!answer.ok)
    throw new CliError('the manager does not say where messages can be sent.', {
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

type Options = { instance?: boolean; file?: string; kind?: string };

/** The request to the manager's `/send`. With a file, the text is its caption. */
export function toSendRequest(channel: string, target: string, text: string, { instance, file, kind }: Options): SendRequest {
  const words = text === '' ? {} : file === undefined ? { text } : { caption: text };
  return {
    ...(instance === true ? { instance_id: channel } : { channel }),
    target,
    ...words,
    ...(file === undefined ? {} : { path: file }),
    ...(kind === undefined ? {} : { kind }),
  };
}

/** The instances that can send, one a line, with a description of their targets. */
export function renderTargets(targets: readonly SendTarget[], style: Style): string {
  const able = targets.flatMap((target) => (target.outbound === false ? [] : [{ ...target, outbound: target.outbound }]));
  if (able.length === 0) return 'No connector that messages can be sent through is set up.';
  const lines = able.map(({ instance_id: id, channel, name, enabled, outbound }) => {
    const state = enabled ? '' : style.dim(', stopped');
    return `  ${style.bold(channel)}  ${id} (${visibleLine(name)}${state}), target: ${outbound.target.label}, takes ${outbound.kinds.join(', ')}`;
  });
  return ['Messages can be sent through:', '', ...lines, '', '  ./svc send CHANNEL TARGET TEXT'].join('\n');
}
