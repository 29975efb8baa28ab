// Made-up orders as CSV, always the same ones.
#pragma once

#include <cstdint>
#include <string>

inline std::string sample(int count)
{
    static const char* const cities[] = {"Aarhus", "Bergen", "Coimbra", "\"Dijon, Burgundy\"", "Esbjerg", "Faro", "\"\"\"Gent\"\"\"", "Hradec"};
    std::uint32_t state = 1;
    // Numerical Recipes' linear congruential generator: the sample is the same with every library
    const auto number = [&state](std::uint32_t below) {
        state = 1664525 * state + 1013904223;
        return (state >> 8) % below;
    };
    std::string text = "id,city,article,amount,comment\n";
    for (int i = 0; i < count; ++i) {
        text += std::to_string(i) + ',' + cities[number(8)] + ",article " + std::to_string(number(500)) + ',';
        text += std::to_string(number(900)) + '.' + std::to_string(10 + number(90)) + ",\"paid, and sent by post\"\n";
    }
    return text;
}
