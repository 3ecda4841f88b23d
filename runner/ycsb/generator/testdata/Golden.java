import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import java.util.concurrent.ThreadLocalRandom;
import site.ycsb.RandomByteIterator;
import site.ycsb.Utils;
import site.ycsb.generator.ExponentialGenerator;
import site.ycsb.generator.NumberGenerator;
import site.ycsb.generator.ScrambledZipfianGenerator;
import site.ycsb.generator.ZipfianGenerator;
import site.ycsb.workloads.CoreWorkload;

/** Writes the golden files beside it, and keys.txt, with YCSB's own classes. README.md says how it is run. */
public class Golden {
  private static final long GOLDEN = 0x9E3779B97F4A7C15L;
  private static Field seed;

  public static void main(String[] args) throws Exception {
    ThreadLocalRandom.current().nextInt();
    seed = Thread.class.getDeclaredField("threadLocalRandomSeed");
    seed.setAccessible(true);
    fnv64();
    zipfian();
    scrambled();
    million();
    exponential();
    randomBytes();
    integrity();
    keys();
  }

  /** Seeds the thread's random numbers. */
  private static void seed(long s) throws Exception {
    seed.setLong(Thread.currentThread(), s);
  }

  /** The first double after a seed, and the number that a generator makes of it. */
  private static String draw(NumberGenerator g, long s) throws Exception {
    seed(s);
    double u = ThreadLocalRandom.current().nextDouble();
    seed(s);
    return Double.toHexString(u) + " " + g.nextValue().longValue() + "\n";
  }

  private static void write(String name, String columns, StringBuilder rows) throws Exception {
    String head = "# Made by site.ycsb:core:0.17.0 on OpenJDK " + System.getProperty("java.version")
        + ", ThreadLocalRandom seeded by reflection so that u is known.\n# " + columns + "\n";
    Files.writeString(Path.of(name), head + rows);
  }

  private static void fnv64() throws Exception {
    StringBuilder o = new StringBuilder();
    for (long k : new long[] {0, 1, 2, 5, 255, 256, 999, 1000, 65535, 65536, 123456789, 2147483647L, 2147483648L, 4294967296L,
        9999999999999L, 1234567890123456789L, Long.MAX_VALUE}) {
      o.append(k + " " + Utils.hash(k) + "\n");
    }
    write("fnv64.txt", "key number, Utils.hash", o);
  }

  private static void zipfian() throws Exception {
    StringBuilder o = new StringBuilder();
    for (long items : new long[] {1, 2, 3, 10, 100, 1000, 4096}) {
      ZipfianGenerator g = new ZipfianGenerator(0, items - 1);
      for (int i = 0; i < 40; i++) {
        o.append(items + " " + draw(g, 77L * i * GOLDEN + items));
      }
    }
    write("zipfian.txt", "ZipfianGenerator(0, items-1) with theta 0.99: items, u in Java's hexadecimal, number", o);
  }

  private static void scrambled() throws Exception {
    StringBuilder o = new StringBuilder();
    for (long[] r : new long[][] {{0, 999}, {0, 0}, {500, 1600}, {0, 100000000}, {0, 9999999999999L}}) {
      ScrambledZipfianGenerator g = new ScrambledZipfianGenerator(r[0], r[1]);
      for (int i = 0; i < 120; i++) {
        o.append(r[0] + " " + r[1] + " " + draw(g, 31L * i * GOLDEN + r[1]));
      }
    }
    write("scrambled.txt", "ScrambledZipfianGenerator(low, high): low, high, u in Java's hexadecimal, number", o);
  }

  private static double parameter(Object zipfian, String name) throws Exception {
    Field f = ZipfianGenerator.class.getDeclaredField(name);
    f.setAccessible(true);
    return f.getDouble(zipfian);
  }

  /** The zipfian that is scrambled, by its formula with its own parameters, over a million u. */
  private static void million() throws Exception {
    Field inner = ScrambledZipfianGenerator.class.getDeclaredField("gen");
    inner.setAccessible(true);
    Object z = inner.get(new ScrambledZipfianGenerator(0, Integer.MAX_VALUE));
    double eta = parameter(z, "eta");
    double alpha = parameter(z, "alpha");
    double zetan = parameter(z, "zetan");
    long sum = 0;
    long hash = 0xCBF29CE484222325L;
    for (int k = 1; k <= 1000000; k++) {
      double u = ((k * GOLDEN) >>> 11) * 0x1.0p-53;
      double uz = u * zetan;
      long v = uz < 1.0 ? 0 : uz < 1.0 + Math.pow(0.5, 0.99) ? 1 : (long) (10000000001L * Math.pow(eta * u - eta + 1, alpha));
      sum += v;
      hash = (hash ^ v) * 1099511628211L;
    }
    StringBuilder o = new StringBuilder();
    o.append("eta " + Double.toHexString(eta) + "\nalpha " + Double.toHexString(alpha) + "\nzetan " + Double.toHexString(zetan));
    o.append("\nsum " + sum + "\nhash " + hash + "\n");
    write("zipfian_million.txt", "ZipfianGenerator over 10,000,000,001 items, u = ((k*0x9E3779B97F4A7C15)>>>11) * 2^-53 for k from 1 to 1,000,000:\n"
        + "# the numbers' sum, and h = (h ^ number) * 1099511628211 over them from h = 0xCBF29CE484222325", o);
  }

  private static void exponential() throws Exception {
    StringBuilder o = new StringBuilder();
    for (double[] r : new double[][] {{95, 857.1428571}, {99, 1e6}, {50, 3}}) {
      ExponentialGenerator g = new ExponentialGenerator(r[0], r[1]);
      for (int i = 0; i < 40; i++) {
        o.append(r[0] + " " + r[1] + " " + draw(g, 5L * i * GOLDEN));
      }
    }
    write("exponential.txt", "ExponentialGenerator(percentile, range): percentile, range, u in Java's hexadecimal, number", o);
  }

  private static void randomBytes() throws Exception {
    StringBuilder o = new StringBuilder();
    for (int i = 0; i < 40; i++) {
      RandomByteIterator bytes = new RandomByteIterator(6);
      seed(11L * i * GOLDEN);
      o.append(ThreadLocalRandom.current().nextInt() + " ");
      seed(11L * i * GOLDEN);
      for (byte b : bytes.toArray()) {
        o.append(String.format("%02x", b));
      }
      o.append("\n");
    }
    write("randombytes.txt", "RandomByteIterator.toArray: nextInt, the six bytes in hexadecimal", o);
  }

  private static CoreWorkload workload(String... properties) throws Exception {
    Properties p = new Properties();
    p.setProperty("recordcount", "1000");
    p.setProperty("operationcount", "1000");
    for (int i = 0; i < properties.length; i += 2) {
      p.setProperty(properties[i], properties[i + 1]);
    }
    site.ycsb.measurements.Measurements.setProperties(p);
    CoreWorkload workload = new CoreWorkload();
    workload.init(p);
    return workload;
  }

  private static Method method(String name, Class<?>... parameters) throws Exception {
    Method m = CoreWorkload.class.getDeclaredMethod(name, parameters);
    m.setAccessible(true);
    return m;
  }

  private static void integrity() throws Exception {
    StringBuilder o = new StringBuilder();
    Method build = method("buildDeterministicValue", String.class, String.class);
    for (int length : new int[] {1, 10, 25, 100, 257}) {
      CoreWorkload w = workload("fieldlength", "" + length, "dataintegrity", "true");
      for (String key : new String[] {"user6284781860667377211", "user0", "user000000000012"}) {
        for (String field : new String[] {"field0", "field9", "f123456789012345678901234567890"}) {
          o.append(length + " " + key + " " + field + " " + build.invoke(w, key, field) + "\n");
        }
      }
    }
    write("integrity.txt", "CoreWorkload.buildDeterministicValue: fieldlength, key, field, value", o);
  }

  private static void keys() throws Exception {
    StringBuilder o = new StringBuilder();
    Method build = method("buildKeyName", long.class);
    for (String order : new String[] {"hashed", "ordered"}) {
      for (int padding : new int[] {1, 5, 19, 24}) {
        CoreWorkload w = workload("zeropadding", "" + padding, "insertorder", order);
        for (long k : new long[] {0, 1, 2, 5, 999, 1000, 123456789, 2147483648L, 9999999999999L}) {
          o.append(order + " " + padding + " " + k + " " + build.invoke(w, k) + "\n");
        }
      }
    }
    write("keys.txt", "CoreWorkload.buildKeyName: insertorder, zeropadding, number, key", o);
  }
}
