import { setTimeout as sleep } from "node:timers/promises";

/** Never two notifications within this time (milliseconds). */
const minGapMs = 200;
/** A step smaller than this share of the total waits ... */
const minStep = 0.05;
/** ... unless this much time has passed since the last one (milliseconds). */
const maxSilenceMs = 1000;

export interface ProgressUpdate {
	readonly progress: number;
	readonly total?: number;
	readonly message?: string;
}

/** Reports progress; cheap enough to be called for every step. */
export type ReportProgress = (update: ProgressUpdate) => void;

export interface ProgressReporter {
	report: ReportProgress;
	/** Sends the last update if it is still held back; reports nothing after. */
	finish(signal: AbortSignal): Promise<void>;
}

/**
 * Thins out the updates of one call before they go to the client. The progress
 * rises strictly, as the specification asks (2025-11-25, "Progress").
 *
 * @param send Delivers a notification. That it fails is no concern of the tool:
 * the client has gone.
 */
export function createProgressReporter(
	send: (update: ProgressUpdate) => Promise<void>,
): ProgressReporter {
	let sent = Number.NEGATIVE_INFINITY;
	let sentAt = Number.NEGATIVE_INFINITY;
	let heldBack: ProgressUpdate | undefined;
	let finished = false;

	async function deliver(update: ProgressUpdate): Promise<void> {
		sent = update.progress;
		sentAt = performance.now();
		heldBack = undefined;
		await send(update).catch(() => {});
	}

	return {
		report(update) {
			const last = heldBack?.progress ?? sent;
			// JSON has no NaN and no Infinity.
			if (!Number.isFinite(update.progress)) return;
			if (finished || update.progress <= last) return;
			const silence = performance.now() - sentAt;
			const step = (update.progress - sent) / (update.total ?? 0);
			const smallStep = update.total !== undefined && step < minStep;
			if (silence < minGapMs || (smallStep && silence < maxSilenceMs)) {
				heldBack = update;
			} else {
				void deliver(update);
			}
		},
		async finish(signal) {
			finished = true;
			if (!heldBack) return;
			const wait = minGapMs - (performance.now() - sentAt);
			if (wait > 0) {
				await sleep(wait, undefined, { signal }).catch(() => {});
			}
			if (!signal.aborted) await deliver(heldBack);
		},
	};
}
