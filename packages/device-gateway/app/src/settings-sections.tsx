import { useEffect, useState } from 'react';
import { catalogue } from './capabilities/catalogue.ts';
import { keepRefused, readRefused } from './capabilities/refused.ts';
import type { Gateway } from './gateway.ts';
import { canPush, isPushed, startPush, stopPush } from './push.ts';
import type { VoiceConfig } from './voice/voice-config.ts';

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

type CheckProps = { label: string; checked: boolean; disabled?: boolean; onChange(checked: boolean): void };

const Check = ({ label, checked, disabled = false, onChange }: CheckProps) => (
  <label className="check">
    <input type="checkbox" checked={checked} disabled={disabled} onChange={({ target }) => onChange(target.checked)} />
    {label}
  </label>
);

type VoiceProps = { config: VoiceConfig; onChange(config: VoiceConfig): Promise<void> };

export function VoiceSection({ config, onChange }: VoiceProps) {
  const [fault, setFault] = useState<string | null>(null);
  const change = (part: VoiceConfig) => {
    setFault(null);
    onChange({ ...config, ...part }).catch((error: unknown) => setFault(`Could not save: ${reasonOf(error)}`));
  };
  return (
    <section>
      <h3>Voice</h3>
      <Check label="Read answers aloud" checked={config.read_aloud === true} onChange={(read_aloud) => change({ read_aloud })} />
      <Check
        label="Hands free: listen again after each answer"
        checked={config.hands_free === true}
        onChange={(hands_free) => change({ hands_free })}
      />
      {fault !== null && <p className="fault">{fault}</p>}
    </section>
  );
}

export function NotificationsSection({ gateway }: { gateway: Gateway }) {
  const [isOn, setOn] = useState<boolean | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  useEffect(() => {
    if (canPush()) isPushed().then(setOn, () => setOn(false));
  }, []);
  const change = (on: boolean) => {
    setFault(null);
    setOn(null);
    (on ? startPush(gateway) : stopPush(gateway)).then(
      () => setOn(on),
      (error: unknown) => {
        setOn(!on);
        setFault(reasonOf(error));
      },
    );
  };
  return (
    <section>
      <h3>Notifications</h3>
      {canPush() ? (
        <Check
          label="Notify me of answers while the app is closed"
          checked={isOn === true}
          disabled={isOn === null}
          onChange={change}
        />
      ) : (
        <p className="muted">This browser has no notifications. On an iPhone, add the app to the home screen first.</p>
      )}
      {fault !== null && <p className="fault">{fault}</p>}
    </section>
  );
}

/** `describe` tells the gateway what is offered now. */
export function CapabilitiesSection({ describe }: { describe(): Promise<void> }) {
  const [refused, setRefused] = useState<readonly string[]>([]);
  useEffect(() => {
    void readRefused().then(setRefused);
  }, []);
  const change = async (name: string, offered: boolean) => {
    const names = offered ? refused.filter((other) => other !== name) : [...refused, name];
    setRefused(names);
    await keepRefused(names);
    // The gateway hears it again with the next connection; what is off here is not done, whatever it knows.
    await describe().catch(() => undefined);
  };
  return (
    <section>
      <h3>What the assistant may do here</h3>
      <p className="muted">The owner first allows each of these for this device. What you turn off is never done.</p>
      {catalogue
        .filter(({ isThere }) => isThere())
        .map(({ name, label }) => (
          <Check key={name} label={label} checked={!refused.includes(name)} onChange={(offered) => void change(name, offered)} />
        ))}
    </section>
  );
}

/** The device's own conversation starts over; the stream says so to every page. */
export function ForgetSection({ gateway }: { gateway: Gateway }) {
  const [isAsking, setAsking] = useState(false);
  const [words, setWords] = useState<string | null>(null);
  const forget = () => {
    setAsking(false);
    gateway.forget(null).then(
      () => setWords('Forgotten.'),
      (error: unknown) => setWords(`Could not forget the conversation: ${reasonOf(error)}`),
    );
  };
  return (
    <section>
      <h3>Conversation of this device</h3>
      {isAsking ? (
        <div role="alert">
          <p>Forget all that was said in this device’s conversation? The assistant starts over; this cannot be undone.</p>
          <p className="row-buttons">
            <button type="button" className="danger" onClick={forget}>
              Forget conversation
            </button>
            <button type="button" className="plain-button" onClick={() => setAsking(false)}>
              Keep conversation
            </button>
          </p>
        </div>
      ) : (
        <p className="row-buttons">
          <button type="button" className="plain-button" onClick={() => setAsking(true)}>
            Forget…
          </button>
        </p>
      )}
      {words !== null && <p role="status">{words}</p>}
    </section>
  );
}
