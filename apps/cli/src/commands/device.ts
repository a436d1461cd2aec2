import { setTimeout as sleep } from 'node:timers/promises';
import type { ListedDevice } from '@svc/contract/device-gateway.ts';
import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { exitCodes } from '@svc/service-kit/exit-codes.ts';
import { CliError } from '../cli-error.ts';
import { inviteDevice, untilPaired } from '../device/add-device.ts';
import { findGateways, onlyGateway, type DeviceApi } from '../device/device-api.ts';
import type { DeviceRequest } from '../device/device-command.ts';
import { renderDevices, renderInvitation } from '../device/render-devices.ts';
import { repositoryRoot } from '../repository-root.ts';
import { coreUrl } from '../service-urls.ts';
import { createStyle, print, printError, visibleLine, widthOf } from '../terminal.ts';
import { createTrustApi, type TrustApi } from '../trust/trust-api.ts';

const lookMs = 1000;

type Of<Action> = Extract<DeviceRequest, { action: Action }>;
type Deps = { gateways: DeviceApi[]; trust: TrustApi };

/** Lists the devices, adds one, or revokes one. */
export async function device(request: DeviceRequest): Promise<number> {
  const settings = loadSettings(repositoryRoot);
  const deps = { gateways: await findGateways(settings, request.connector), trust: createTrustApi(coreUrl(settings)) };
  switch (request.action) {
    case 'list':
      return list(deps, request);
    case 'add':
      return add(deps, request);
    case 'rename':
      return rename(deps, request);
    case 'revoke':
      return revoke(deps, request);
    case 'allow':
    case 'deny':
      return setAllowed(deps, request);
  }
}

async function list({ gateways }: Deps, { json }: Of<'list'>): Promise<number> {
  const devices = (await Promise.all(gateways.map((gateway) => gateway.list()))).flat();
  print(json === true ? JSON.stringify({ devices }, null, 2) : renderDevices(devices, Date.now(), createStyle(process.stdout)));
  return exitCodes.ok;
}

async function add({ gateways, trust }: Deps, { name, as, wait, json }: Of<'add'>): Promise<number> {
  const gateway = onlyGateway(gateways);
  const invitation = await inviteDevice({ gateway, trust }, { name, as });
  if (json === true) {
    print(JSON.stringify(invitation, null, 2));
    return exitCodes.ok;
  }
  print(renderInvitation(invitation, await drawn(invitation.url), Date.now(), createStyle(process.stdout)));
  if (!wait) return exitCodes.ok;
  const left = new AbortController();
  const leave = () => left.abort();
  process.once('SIGINT', leave);
  printError('Waiting for the device … (Ctrl-C stops waiting; the link stays valid)');
  const { device_id: deviceId, expires_at: expiresAt } = invitation;
  // Ctrl-C stops waiting.
  const pause = () => sleep(lookMs, undefined, { signal: left.signal }).catch(() => undefined);
  const arrival = await untilPaired({ gateway, deviceId, expiresAt, now: Date.now, pause, signal: left.signal });
  process.off('SIGINT', leave);
  if (arrival === 'paired') print(`"${visibleLine(name)}" has access, as ${visibleLine(as)}.`);
  if (arrival !== 'expired') return exitCodes.ok;
  await end(
    { gateway, trust },
    (await gateway.list()).find(({ device_id: id }) => id === deviceId),
  );
  throw new CliError('the device has not connected.', {
    why: 'Its link is no longer valid.',
    run: `./svc device add ${JSON.stringify(name)}`,
  });
}

async function rename({ gateways }: Deps, { device: named, name, json }: Of<'rename'>): Promise<number> {
  const { gateway, device: found } = await findDevice(gateways, named);
  const after = await gateway.rename(found.device_id, name);
  print(json === true ? JSON.stringify(after, null, 2) : `It is called "${visibleLine(after.name)}".`);
  return exitCodes.ok;
}

async function revoke({ gateways, trust }: Deps, { device: named, json }: Of<'revoke'>): Promise<number> {
  const { gateway, device: found } = await findDevice(gateways, named);
  await end({ gateway, trust }, found);
  print(json === true ? JSON.stringify(found, null, 2) : `"${visibleLine(found.name)}" is signed out.`);
  return exitCodes.ok;
}

async function setAllowed(
  { gateways }: Deps,
  { action, device: named, capability, json }: Of<'allow' | 'deny'>,
): Promise<number> {
  const { gateway, device: found } = await findDevice(gateways, named);
  const after = await gateway[action](found.device_id, capability);
  const allowed = after.allowed.map(visibleLine).join(', ');
  const text = `"${visibleLine(after.name)}" may be used for ${allowed === '' ? 'nothing' : allowed}.`;
  print(json === true ? JSON.stringify(after, null, 2) : text);
  if (action === 'allow' && !after.can.includes(capability))
    printError(
      `It does not offer "${visibleLine(capability)}"${after.can.length === 0 ? '' : `, only ${after.can.map(visibleLine).join(', ')}`}.`,
    );
  return exitCodes.ok;
}

/** Revokes its token first, then removes its link to a person. */
async function end({ gateway, trust }: { gateway: DeviceApi; trust: TrustApi }, found: ListedDevice | undefined): Promise<void> {
  if (found === undefined) return;
  await gateway.revoke(found.device_id);
  const { principals } = await trust.principals();
  const { type } = gateway.instance;
  const own = principals
    .flatMap(({ identifiers }) => identifiers)
    .filter(({ surface, value }) => surface === type && value === found.identity);
  for (const { id } of own) await trust.unlink(id);
}

async function findDevice(gateways: readonly DeviceApi[], named: string): Promise<{ gateway: DeviceApi; device: ListedDevice }> {
  const all = (
    await Promise.all(gateways.map(async (gateway) => (await gateway.list()).map((each) => ({ gateway, device: each }))))
  ).flat();
  const byId = all.find(({ device: { device_id: id } }) => id === named);
  const [only, ...more] = byId === undefined ? all.filter(({ device: { name } }) => name === named) : [byId];
  if (only !== undefined && more.length === 0) return only;
  throw new CliError(only === undefined ? `there is no device "${named}".` : `several devices are called "${named}".`, {
    ...(only !== undefined && {
      why: `Name it by its id: ${[only, ...more].map(({ device: { device_id: id } }) => id).join(', ')}.`,
    }),
    run: './svc device',
  });
}

/** The link as a QR code; null outside a terminal, and when the terminal is too narrow for it. */
async function drawn(url: string): Promise<string | null> {
  if (!process.stdout.isTTY) return null;
  const { renderUnicodeCompact } = await import('uqr');
  const picture = renderUnicodeCompact(url, { border: 2 });
  return picture.indexOf('\n') <= widthOf(process.stdout) ? picture : null;
}
