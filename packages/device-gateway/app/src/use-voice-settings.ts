import { useCallback, useEffect, useState } from 'react';
import type { Gateway } from './gateway.ts';
import type { VoiceConfig, VoiceTheme } from './voice/voice-config.ts';

/** What the gateway keeps of speech for this device, and its theme. Until they are read, and where there is no speech, they are empty. */
export function useVoiceSettings(gateway: Gateway) {
  const [config, setConfig] = useState<VoiceConfig>({});
  const [theme, setTheme] = useState<VoiceTheme>({});
  useEffect(() => {
    gateway.json<{ config?: VoiceConfig }>('GET', '/gw/voice-config').then(
      ({ config }) => setConfig(config ?? {}),
      () => undefined,
    );
    gateway.json<VoiceTheme>('GET', '/gw/theme').then(setTheme, () => undefined);
  }, [gateway]);
  const change = useCallback(
    async (next: VoiceConfig) => {
      setConfig(next); // shown at once, and taken back where it is not kept
      try {
        await gateway.json('POST', '/gw/voice-config', next);
      } catch (error) {
        setConfig(config);
        throw error;
      }
    },
    [gateway, config],
  );
  return { config, theme, change };
}
