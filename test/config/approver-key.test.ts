import { generateKeyPairSync } from 'node:crypto';
import { chmodSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { loadApproverKey } from '../../src/config.js';
import { newKey, withFile } from '../support/approvers.js';

const PEM = newKey().export({ format: 'pem', type: 'pkcs8' }).toString();

const problemOf = (content: string, mode = 0o600): string =>
  withFile(content, (path) => {
    chmodSync(path, mode);
    try {
      return loadApproverKey(path)?.type ?? 'none';
    } catch (error) {
      return String(error);
    }
  });

describe('the private key of a person', () => {
  test('comes from the file given, else from APPROVER_KEY_FILE, else from nowhere', () => {
    withFile(PEM, (path) => {
      expect(loadApproverKey(path, {})?.asymmetricKeyType).toBe('ed25519');
      expect(loadApproverKey(undefined, { APPROVER_KEY_FILE: path })?.type).toBe('private');
      expect(loadApproverKey(undefined, {})).toBeUndefined();
      expect(() => loadApproverKey('/nowhere', { APPROVER_KEY_FILE: path })).toThrow(
        '--key: cannot be read as UTF-8 text',
      );
    });
    expect(() => loadApproverKey(undefined, { APPROVER_KEY_FILE: '' })).toThrow(
      'APPROVER_KEY_FILE: cannot be read as UTF-8 text',
    );
  });

  test('is refused where others may read it', () => {
    for (const mode of [0o604, 0o640, 0o644]) expect(problemOf(PEM, mode)).toContain('chmod 600');
    for (const mode of [0o600, 0o400]) expect(problemOf(PEM, mode)).toBe('private');
  });

  test('is refused, and not shown, where it is of another kind, public, protected or no key', () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const { publicKey } = generateKeyPairSync('ed25519');
    const locked = newKey().export({ format: 'pem', type: 'pkcs8', cipher: 'aes-256-cbc', passphrase: 'x' });
    const others = [
      privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
      publicKey.export({ format: 'pem', type: 'spki' }).toString(),
      locked.toString(),
      'zz-no-key',
    ];
    for (const other of others) {
      expect(problemOf(other)).toBe('ConfigError: --key: must be a private Ed25519 key in PEM, without passphrase');
    }
  });
});
