import type { CliSettings } from '@svc/service-kit/config/process-settings.ts';

/** The address of our own vault. */
const ownUrl = ({ bindHost, vaultPort }: CliSettings): string => `http://${bindHost}:${vaultPort}`;

/** The address of the vault from the settings, else that of our own. */
export const vaultAddress = (settings: CliSettings): string => settings.vaultUrl ?? ownUrl(settings);
