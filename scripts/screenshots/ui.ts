import { stat } from 'node:fs/promises';
import { type Browser, chromium, type Page } from 'playwright-core';
import { viewsScript } from '../../src/starter/views-verb.js';

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
/** Wide enough for every column of the list. */
const LIST_VIEW = { width: 1600, height: 900 };
/** High enough for all that stands on a page to be pasted. */
const PAGE_VIEW = { width: 1440, height: 1080 };
/** A picture that weighs more makes the repository heavy without saying more. */
const MAX_BYTES = 250_000;

/** Which run of which workflow. */
export interface RunOf {
  workflowId: string;
  runId: string;
}

/** A decision as a workflow's page holds it: its name there, and the argument to paste. */
export interface Pasteable {
  choice: string;
  json: string;
}

/** The Temporal UI in a headless Chromium, as a person uses it. */
export class TemporalUi {
  readonly #browser: Browser;
  readonly #page: Page;
  readonly #base: string;

  private constructor(browser: Browser, page: Page, base: string) {
    this.#browser = browser;
    this.#page = page;
    this.#base = base;
  }

  /** Opens the UI with the views and columns that `views` prints. */
  static async open(uiUrl: string, namespace: string): Promise<TemporalUi> {
    const browser = await chromium.launch({ executablePath: CHROMIUM });
    const page = await browser.newPage({ timezoneId: 'UTC' });
    const list = `${uiUrl}/namespaces/${namespace}/workflows`;
    await page.goto(list);
    await Promise.all([page.waitForEvent('load'), page.evaluate(viewsScript(namespace))]);
    return new TemporalUi(browser, page, list);
  }

  /** Shows what a query finds, once that many workflows stand there. */
  async showList(query: string, workflows: number): Promise<void> {
    await this.#page.setViewportSize(LIST_VIEW);
    await this.#page.goto(`${this.#base}?query=${encodeURIComponent(query)}`);
    await this.#page
      .locator('tbody tr')
      .nth(workflows - 1)
      .waitFor();
  }

  /** Shows what a workflow says about itself now, and returns what stands there to be pasted. */
  async showDetails({ workflowId, runId }: RunOf): Promise<Pasteable[]> {
    await this.#page.setViewportSize(PAGE_VIEW);
    await this.#page.goto(`${this.#base}/${encodeURIComponent(workflowId)}/${runId}/user-metadata`);
    const details = this.#page.frameLocator('iframe').last().locator('main');
    await details.getByText('waiting for').waitFor();
    const hidden = await details.evaluate((main) => {
      const last = [...main.children].findLast((one) => one.textContent?.trim());
      return (last?.getBoundingClientRect().bottom ?? 0) - main.ownerDocument.documentElement.clientHeight;
    });
    if (hidden > 0) throw new Error(`the page of ${workflowId} cuts its last line by ${hidden} px`);
    const choices = await details.locator('p:has(+ pre) > :first-child').allInnerTexts();
    const texts = await details.locator('pre').allInnerTexts();
    return texts.map((json, index) => ({ choice: choices[index] ?? '', json }));
  }

  /** Sends an update by the UI's own dialog, from the page that is shown. Throws with what the dialog says when it is refused. */
  async paste(update: string, json: string): Promise<void> {
    await this.#page.getByRole('button', { name: 'More Actions' }).click();
    await this.#page.getByRole('menuitem', { name: 'Update' }).click();
    // A second, closed dialog of this name stands in the page.
    const dialog = this.#page.locator('dialog[open]');
    await dialog.getByRole('button', { name: 'Select an Update' }).click();
    await this.#page.getByRole('option', { name: new RegExp(`^\\s*${update}\\b`) }).click();
    await dialog.locator('.cm-content').click();
    await this.#page.keyboard.insertText(json);
    // The editor lays the text out anew when it is left, which moves the button away from under the pointer.
    await dialog.locator('.cm-content').blur();
    await dialog.getByRole('button', { name: 'Submit' }).click();
    await dialog.waitFor({ state: 'hidden' });
  }

  /** Takes a picture of the page that is shown. Throws when it is too heavy. */
  async picture(file: string): Promise<void> {
    await this.#page.screenshot({ path: file });
    const { size } = await stat(file);
    if (size > MAX_BYTES) throw new Error(`${file} has ${size} bytes, more than ${MAX_BYTES}`);
  }

  close(): Promise<void> {
    return this.#browser.close();
  }
}
