// Numbers as people read them.

const UNITS = {
  time: [["s", 1e12], ["ms", 1e9], ["us", 1e6], ["ns", 1e3], ["ps", 1]],
  bytes: [["GB", 1e9], ["MB", 1e6], ["KB", 1e3], ["B", 1]],
  rate: [["Tbit/s", 1e12], ["Gbit/s", 1e9], ["Mbit/s", 1e6], ["kbit/s", 1e3], ["bit/s", 1]],
};

// The unit in which `value` is at least 1.
function unitOf(quantity, value) {
  // A moment has the unit that fits the time that the figures span.
  if (quantity === "moment") return unitOf("time", data.end_ps - data.begin_ps);
  const units = UNITS[quantity];
  if (!units) return ["", 1];
  return units.find(([, scale]) => Math.abs(value) >= scale) ?? units[units.length - 1];
}

const grouped = (value) => value.toLocaleString("en-US", { maximumFractionDigits: 3 });

// As many digits as tell two marks of an axis apart.
const plain = (value) => Number(value.toPrecision(7)).toLocaleString("en-US", { maximumFractionDigits: 6 });

// A number with so many decimals, and so many more that three digits count. Zero has none.
function significant(value, decimals) {
  if (value === 0) return "0";
  const size = Math.floor(Math.log10(Math.abs(value)));
  return value.toFixed(Math.min(Math.max(decimals, size < 0 ? 2 - size : 0), 12));
}

// A value of a table cell or a tooltip. Ratios come in millionths.
function format(quantity, value) {
  if (value === null || value === undefined) return "\u2013";
  if (quantity === "text") return String(value);
  if (quantity === "ratio") return significant(value / 1e6, 3);
  if (quantity === "percent") return `${plain(value)} %`;
  if (quantity === "count") return Math.abs(value) < 1 ? significant(value, 0) : grouped(value);
  if (quantity === "moment") {
    const [unit, scale] = unitOf("moment");
    return `${(value / scale).toFixed(3)} ${unit}`;
  }
  if (value === 0) return `0 ${unitOf(quantity, 0)[0]}`;
  const [unit, scale] = unitOf(quantity, value);
  const digits = scale === 1 ? 0 : 2;
  return `${(value / scale).toFixed(digits)} ${unit}`;
}

// Round places between `low` and `high` for the marks of an axis.
function linearTicks(low, high, wanted) {
  const span = high - low;
  if (!(span > 0)) return [low];
  const rough = span / Math.max(wanted, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * power).find((size) => size >= rough * 0.999);
  const ticks = [];
  for (let index = Math.ceil(low / step - 1e-9); index * step <= high + step * 1e-9; index++) {
    ticks.push(index * step || 0); // never -0
  }
  return ticks;
}

// Places for the marks of a logarithmic axis: the fewest round ones of at least three, or, where the axis spans
// too little for these, those of a linear axis.
function logTicks(low, high, wanted = 8) {
  if (!(low > 0) || !Number.isFinite(high)) return [];
  const stride = Math.max(1, Math.ceil(Math.log10(high / low) / wanted));
  for (const factors of [[1], [1, 3], [1, 2, 5]]) {
    const ticks = roundPlaces(low, high, factors, stride);
    if (ticks.length > wanted) break;
    if (ticks.length >= 3) return ticks;
  }
  return linearTicks(low, high, Math.min(wanted, 5)).filter((tick) => tick > 0);
}

// The products of `factors` and every `stride`-th power of ten, from `low` to `high`.
function roundPlaces(low, high, factors, stride) {
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high) + 1e-9; power++) {
    if (power % stride !== 0) continue;
    for (const factor of factors) {
      const tick = factor * 10 ** power;
      if (tick >= low * 0.999 && tick <= high * 1.001) ticks.push(tick);
    }
  }
  return ticks;
}

// What stands at the marks; the unit is the same for all of a linear axis.
function tickTexts(quantity, ticks, log, unitFrom) {
  if (log && quantity !== "ratio") {
    return ticks.map((tick) => {
      const [unit, scale] = unitOf(quantity, tick);
      return `${plain(tick / scale)} ${unit}`.trim();
    });
  }
  const scale = quantity === "ratio" ? 1e6 : unitOf(quantity, unitFrom)[1];
  return ticks.map((tick) => withDigits(tick / scale, leastGap(ticks) / scale));
}

const leastGap = (ticks) => Math.min(...ticks.slice(1).map((tick, index) => tick - ticks[index]), Infinity);

// As many decimals as tell two values apart that differ by `step`.
function withDigits(value, step) {
  if (!Number.isFinite(step)) return plain(value);
  const digits = Math.min(Math.max(0, Math.ceil(-Math.log10(step) - 1e-9)), 12);
  // A step such as 2.5 needs one more than its size says.
  const exact = Math.abs(step * 10 ** digits - Math.round(step * 10 ** digits)) < 1e-6 ? digits : digits + 1;
  return value.toLocaleString("en-US", { maximumFractionDigits: exact });
}

const axisTitle = (title, quantity, largest, log) => {
  const unit = quantity === "percent" ? "%" : unitOf(quantity, largest)[0];
  // Each mark of a logarithmic axis has its own unit.
  if (log) return `${title} (log)`;
  return unit ? `${title} (${unit})` : title;
};

// The unit of numbers in files, and the number there: as in results.
const FILE_UNITS = { time: "ps", moment: "ps", bytes: "bytes", rate: "bit/s", percent: "%" };
const inFile = (quantity, value) => (quantity === "ratio" && value !== null ? value / 1e6 : value);
