import { createDrafts } from '@svc/chat-ui/outbox/drafts.ts';
import { clearOutbox } from '@svc/chat-ui/outbox/outbox.ts';
import { X } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { type Device, keepDevice } from './device.ts';
import type { Gateway } from './gateway.ts';
import { CapabilitiesSection, ForgetSection, NotificationsSection, VoiceSection } from './settings-sections.tsx';
import type { VoiceConfig } from './voice/voice-config.ts';

type Props = {
  device: Device;
  gateway: Gateway;
  voice: VoiceConfig;
  onVoice(config: VoiceConfig): Promise<void>;
  describe(): Promise<void>;
  onClose(): void;
  onSignedOut(): void;
  onRenamed(device: Device): void;
};

/** What a person sets on this device. Opens as a dialog of the browser, which keeps the focus in and gives it back. */
export function SettingsDialog({ device, gateway, voice, onVoice, describe, onClose, onSignedOut, onRenamed }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    <dialog ref={dialog} className="settings" aria-labelledby="settings-title" onClose={onClose}>
      <header>
        <h2 id="settings-title">Settings</h2>
        <button type="button" className="icon" aria-label="Close settings" onClick={() => dialog.current?.close()}>
          <X aria-hidden size={20} />
        </button>
      </header>
      <VoiceSection config={voice} onChange={onVoice} />
      <NotificationsSection gateway={gateway} />
      <CapabilitiesSection describe={describe} />
      <ForgetSection gateway={gateway} />
      <DeviceSection device={device} gateway={gateway} onSignedOut={onSignedOut} onRenamed={onRenamed} />
    </dialog>
  );
}

function DeviceSection({
  device,
  gateway,
  onSignedOut,
  onRenamed,
}: Pick<Props, 'device' | 'gateway' | 'onSignedOut' | 'onRenamed'>) {
  const [name, setName] = useState(device.name);
  const [words, setWords] = useState<string | null>(null);
  const [isAsking, setAsking] = useState(false);

  const rename = async () => {
    try {
      await gateway.describe({ name });
      const renamed = { ...device, name };
      await keepDevice(renamed);
      onRenamed(renamed);
      setWords('Saved.');
    } catch (error) {
      setWords(error instanceof Error ? `Could not save: ${error.message}` : 'Could not save.');
    }
  };
  const signOut = async () => {
    // Without a connection the token stays known there: the owner can revoke it.
    await gateway.signOut().catch(() => undefined);
    await Promise.all([createDrafts(device.instance_id).clear(), clearOutbox(device.instance_id)]);
    onSignedOut();
  };

  return (
    <section>
      <h3>This device</h3>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void rename();
        }}
      >
        <label htmlFor="device-name">Name</label>
        <input id="device-name" type="text" value={name} maxLength={80} onChange={(event) => setName(event.target.value)} />
        <p className="row-buttons">
          <button type="submit" className="plain-button" disabled={name.trim() === '' || name === device.name}>
            Save name
          </button>
          <button type="button" className="danger" onClick={() => setAsking(true)}>
            Sign out
          </button>
        </p>
      </form>
      {words !== null && <p role="status">{words}</p>}
      {isAsking && (
        <div role="alert">
          <p>
            Sign out “{device.name}”? Its drafts and unsent messages are removed from this browser, and it must be paired again.
          </p>
          <p className="row-buttons">
            <button type="button" className="danger" onClick={() => void signOut()}>
              Sign out this device
            </button>
            <button type="button" className="plain-button" onClick={() => setAsking(false)}>
              Keep it
            </button>
          </p>
        </div>
      )}
    </section>
  );
}
