// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

/// A picture of width x height pixels, and how to save it as a PNG file. The pixels are stored as
/// they are (zlib's "stored" blocks), so no library is needed.
class Picture {
 public:
  using Colour = std::array<std::uint8_t, 3>;  ///< red, green, blue

  /// The pixels are colour_at(row, col), rows counted from the top.
  template <class ColourAt>
  Picture(int width, int height, const ColourAt& colour_at) : width_(width), height_(height) {
    for (int row = 0; row < height; ++row) {
      lines_ += '\0';  // this line is stored without a filter
      for (int col = 0; col < width; ++col)
        for (const std::uint8_t part : colour_at(row, col)) lines_ += static_cast<char>(part);
    }
  }

  /// False where the file cannot be written.
  bool save(const std::string& path) const {
    std::string data = "\x78\x01";  // zlib's header
    for (std::size_t begin = 0; begin < lines_.size(); begin += 65535) {
      const std::size_t count = std::min<std::size_t>(65535, lines_.size() - begin);
      data += begin + count == lines_.size() ? '\1' : '\0';
      const auto n = static_cast<unsigned>(count);
      for (const unsigned word : {n, ~n}) {
        data += static_cast<char>(word & 255);
        data += static_cast<char>(word >> 8 & 255);
      }
      data.append(lines_, begin, count);
    }
    std::uint32_t a = 1, b = 0;  // zlib's checksum
    for (const char c : lines_) {
      a = (a + static_cast<std::uint8_t>(c)) % 65521;
      b = (b + a) % 65521;
    }
    data += number(b << 16 | a);

    std::ofstream file(path, std::ios::binary);
    file << "\x89PNG\r\n\x1a\n"
         << chunk("IHDR", number(static_cast<std::uint32_t>(width_)) +
                              number(static_cast<std::uint32_t>(height_)) +
                              std::string("\x08\x02\0\0\0", 5))  // 8 bits, colour
         << chunk("IDAT", data) << chunk("IEND", "");
    return static_cast<bool>(file.flush());
  }

 private:
  static std::string number(std::uint32_t value) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 255);
    return bytes;
  }
  static std::string chunk(const std::string& type, const std::string& data) {
    std::uint32_t crc = 0xffffffffu;
    for (const char c : type + data) {
      crc ^= static_cast<std::uint8_t>(c);
      for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return number(static_cast<std::uint32_t>(data.size())) + type + data + number(~crc);
  }

  int width_, height_;
  std::string lines_;
};

/// The colour at `place` in [0, 1] of a scale of colours.
inline Picture::Colour on_scale(const std::vector<std::array<double, 3>>& scale, double place) {
  const double at = std::clamp(place, 0.0, 1.0) * static_cast<double>(scale.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(at), scale.size() - 2);
  const double share = at - static_cast<double>(below);
  Picture::Colour colour{};
  for (std::size_t part = 0; part < 3; ++part)
    colour[part] = static_cast<std::uint8_t>(0.5 + (1 - share) * scale[below][part] +
                                             share * scale[below + 1][part]);
  return colour;
}

/// -1 blue, 0 white, 1 red, equally dark on both sides.
inline Picture::Colour blue_white_red(double value) {
  return on_scale({{10, 30, 80},
                   {30, 80, 150},
                   {90, 150, 205},
                   {175, 210, 232},
                   {247, 246, 242},
                   {243, 195, 166},
                   {217, 122, 93},
                   {168, 46, 52},
                   {88, 10, 32}},
                  (value + 1) / 2);
}

/// From 0, night blue, through violet and orange to 1, nearly white.
inline Picture::Colour night_to_light(double value) {
  return on_scale({{8, 9, 30},
                   {40, 18, 85},
                   {92, 25, 110},
                   {148, 40, 104},
                   {200, 66, 79},
                   {236, 110, 48},
                   {250, 165, 42},
                   {248, 218, 110},
                   {253, 250, 225}},
                  value);
}
