import type { Command } from 'commander';
import { defineCommand, defineDefault, withConnector } from '../program/define-command.ts';

/** `connector`: name or id, where there are several device gateways. */
type Of = { connector?: string; json?: boolean };

/** The actions of `svc device`. */
export type DeviceRequest = Of &
  (
    | { action: 'list' }
    /** `as`: key of the device's owner. */
    | { action: 'add'; name: string; as: string; wait: boolean }
    | { action: 'rename'; device: string; name: string }
    | { action: 'revoke'; device: string }
    /** `capability`: its name, as reported by the device. */
    | { action: 'allow' | 'deny'; device: string; capability: string }
  );

type Run = (request: DeviceRequest) => Promise<void>;

/** Adds `device` and its subcommands. */
export function addDeviceCommand(program: Command, run: Run): void {
  const noun = defineCommand(program, 'device', {
    summary: 'list phones and other devices, let them in, revoke them',
    examples: ['./svc device', './svc device add Phone', './svc device revoke Phone'],
  });
  withConnector(
    defineDefault(noun, 'list', { summary: 'list the devices', examples: ['./svc device', './svc device list --json'] }),
  ).action((options: Of) => run({ action: 'list', ...options }));
  withConnector(
    defineCommand(noun, 'add', {
      summary: 'let a device in by a link, or a code to scan',
      examples: ['./svc device add Phone', './svc device add "Ann’s phone" --as ann'],
    })
      .argument('<name>', 'what it is called')
      .option('--as <person>', 'whose device it is', 'owner')
      .option('--no-wait', 'do not wait until it has connected'),
  ).action((name: string, options: Of & { as: string; wait: boolean }) => run({ action: 'add', name, ...options }));
  withConnector(
    defineCommand(noun, 'rename', { summary: 'give a device another name', examples: ['./svc device rename Phone "Old phone"'] })
      .argument('<device>', 'its name or id')
      .argument('<name>', 'its new name'),
  ).action((device: string, name: string, options: Of) => run({ action: 'rename', device, name, ...options }));
  withConnector(
    defineCommand(noun, 'revoke', {
      summary: 'revoke the access of a device, immediately',
      examples: ['./svc device revoke Phone'],
    }).argument('<device>', 'its name or id'),
  ).action((device: string, options: Of) => run({ action: 'revoke', device, ...options }));
  for (const [action, summary, example] of [
    ['allow', 'let a device be used for something', './svc device allow Phone geolocation'],
    ['deny', 'let a device no longer be used for something', './svc device deny Phone notify'],
  ] as const)
    withConnector(
      defineCommand(noun, action, { summary, examples: [example] })
        .argument('<device>', 'its name or id')
        .argument('<capability>', 'what it can do, as the device names it'),
    ).action((device: string, capability: string, options: Of) => run({ action, device, capability, ...options }));
}
